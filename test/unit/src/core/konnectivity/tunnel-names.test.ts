import { describe, expect, it } from "vitest";
import type { ClusterApi } from "../../../../../src/cluster/api.ts";
import { tunnelObjects } from "../../../../../src/cluster/tunnel-objects.ts";
import { installerTunnelPath } from "../../../../../src/core/ignition/check.ts";
import { decodeContents } from "../../../../../src/core/ignition/contents.ts";
import { type TunnelNames, tunnelNames } from "../../../../../src/core/konnectivity/tunnel-names.ts";
import { sampleConfig } from "../../../../../src/core/sample/sample.ts";
import { containerOf, readObject, render } from "../../../../support/tunnel.ts";

const { ours, installer } = tunnelNames;

describe("the names of the two tunnels", () => {
  it("are those of what this project renders", () => {
    const assets = render({});
    const agent = containerOf(readObject(assets, "agents/agents.yaml")).args;
    expect(agent).toContain(`--ca-cert=${ours.agentCertificates}/ca.crt`);
    expect(assets.files.every(({ path }) => path.startsWith(ours.marker) || path.startsWith("/usr/local/bin/"))).toBe(
      true,
    );
    const { files: settings } = assets;
    const text = settings.find(({ path }) => path.endsWith("/settings.sh"))?.text;
    for (const [name, value] of Object.entries({
      TUNNEL_TLS: ours.tls,
      TUNNEL_STATIC_POD: ours.staticPodManifest,
      TUNNEL_EGRESS_SELECTOR: ours.egressSelector,
    }))
      expect(text).toContain(`${name}='${value}'\n`);
  });

  it("tell the installer's tunnel by what bootstrap.ign is told by", () => {
    expect(installer.marker).toBe(installerTunnelPath);
    const scriptOf = (shape: "4.23" | "4.23-gate-on") =>
      String(
        decodeContents(sampleConfig(shape).storage?.files?.find(({ path }) => path === installer.marker)?.contents),
      );
    expect(scriptOf("4.23-gate-on")).toContain(installer.switchedOn);
    expect(scriptOf("4.23")).not.toContain(installer.switchedOn);
  });

  it("share no file on the bootstrap machine", () => {
    const pathsOf = ({ marker, staticPodManifest, tls, egressSelector }: TunnelNames) => [
      marker,
      staticPodManifest,
      tls,
      egressSelector,
    ];
    expect(new Set([ours, installer].flatMap(pathsOf)).size).toBe(8);
  });

  it("are the same in the cluster: the sweep removes the objects of both", () => {
    // What the installer's manifests create (openshift/installer, data/data/bootstrap/files/opt/openshift).
    const created = [
      "namespace/openshift-bootstrap-konnectivity",
      "daemonset/konnectivity-agent",
      "secret/konnectivity-agent-certs",
    ];
    const api = { apps: {}, core: {}, rbac: {} } as unknown as ClusterApi;
    expect(tunnelObjects(api).map(({ name }) => name)).toEqual(expect.arrayContaining(created));
  });
});
