import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { fileEntry, sampleText } from "../../../../src/core/sample/sample.ts";
import { withApi } from "../../../support/api.ts";
import { command } from "../../../support/cli.ts";

const root = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-webhooks-"));
afterAll(() => {
  rmSync(root, { recursive: true });
});

const webhook = (name: string, clientConfig: object, more: object = {}) => ({
  name: `${name}.example.com`,
  clientConfig,
  ...more,
});
const configuration = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name: "example" },
  webhooks: [
    webhook("by-service", { service: { namespace: "example", name: "hooks" } }),
    webhook("by-url", { url: "https://hooks.example.com" }, { failurePolicy: "Ignore", timeoutSeconds: 5 }),
  ],
};

/** An install folder whose bootstrap.ign has these manifests. */
function installDir(manifests: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(root, "ocp-"));
  const files = Object.entries(manifests).map(([name, text]) => fileEntry(`/opt/openshift/${name}`, text, 0o644));
  writeFileSync(join(folder, "bootstrap.ign"), sampleText("4.18", { files }));
  return folder;
}

describe("webhooks <install-dir>", () => {
  it("explains what each webhook means, and what the folder cannot show", async () => {
    const folder = installDir({ "manifests/99_hooks.yaml": stringify(configuration) });
    const { code, stdout, stderr } = await command("webhooks", folder);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "MutatingWebhookConfiguration example, webhook by-service.example.com",
      "  calls     service example/hooks:443",
      "  failure   the request fails, at the latest after 10 s",
      "  means     would block the bootstrap without the tunnel",
      "",
      "MutatingWebhookConfiguration example, webhook by-url.example.com",
      "  calls     https://hooks.example.com",
      "  failure   the request continues, at the latest after 5 s",
      "  means     not tunnelled: the kube-apiserver calls a URL directly",
      "",
      "2 in all, 1 through the tunnel.",
      expect.stringContaining("only a running cluster shows them") as string,
      "",
    ]);
  });

  it("reads JSON, several documents in a file, and lists", async () => {
    const list = { kind: "List", items: [configuration] };
    const folder = installDir({
      "openshift/a.json": JSON.stringify(list),
      "manifests/b.yml": `${stringify({ kind: "ConfigMap" })}---\n${stringify(configuration)}`,
      "auth/c.yaml": stringify(configuration),
    });
    const { stdout } = await command("webhooks", folder, "--json");
    const { endpoints } = JSON.parse(stdout) as { endpoints: { source: string; explanation: string }[] };
    expect(endpoints).toHaveLength(4);
    expect(endpoints[0]).toMatchObject({ source: "install folder", explanation: expect.any(String) as string });
  });

  it("names a manifest that is not valid YAML, and shows the others", async () => {
    const folder = installDir({ "manifests/a.yaml": "a: [b", "manifests/b.yaml": stringify(configuration) });
    const { code, stdout, stderr } = await command("webhooks", folder);
    expect(stderr).toContain("warning: /opt/openshift/manifests/a.yaml in bootstrap.ign is not valid YAML");
    expect(stdout).toContain("2 in all");
    expect(code).toBe(0);
  });

  it("says that there are none", async () => {
    expect((await command("webhooks", installDir({}))).stdout).toContain("No webhooks and no aggregated APIs.\n");
  });

  it("needs a source", async () => {
    const { code, stderr } = await command("webhooks");
    expect(stderr).toContain("give the install folder, or --kubeconfig for a running cluster, or both");
    expect(code).toBe(2);
  });
});

describe("webhooks --kubeconfig", () => {
  const objects = {
    mutatingwebhookconfigurations: { items: [{ ...configuration, kind: undefined }] },
    "/namespaces/example/services/hooks": {
      metadata: { name: "hooks", namespace: "example" },
      spec: { selector: { app: "hooks" } },
    },
    "/namespaces/example/pods": {
      items: [
        { metadata: { namespace: "example", labels: { app: "hooks" } }, spec: { hostNetwork: true, containers: [] } },
      ],
    },
    "/apis/": { items: [] },
  };

  it("finds out who is on the host network", async () => {
    await withApi(objects, async (kubeconfig) => {
      const { code, stdout, stderr } = await command("webhooks", "--kubeconfig", kubeconfig);
      expect(stderr).toBe("");
      expect(stdout).toContain("  declared  in the cluster\n");
      expect(stdout).toContain("  pods      on the host network\n  means     with the tunnel, a call needs an agent");
      expect(stdout).not.toContain("install folder");
      expect(code).toBe(0);
    });
  });

  it("says which API refused", async () => {
    await withApi({ "/apis/": { kind: "Status", code: 403 } }, async (kubeconfig) => {
      const { code, stderr } = await command("webhooks", "--kubeconfig", kubeconfig);
      expect(stderr).toMatch(/^error: .*http:\/\/127\.0\.0\.1:\d+.*\(403\)/);
      expect(code).toBe(1);
    });
  });
});
