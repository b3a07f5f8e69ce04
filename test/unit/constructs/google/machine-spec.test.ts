import { describe, expect, it } from "vitest";
import { type MachineOptions, MachineSpec } from "../../../../constructs/google/machine-spec.ts";
import { payloadIn, synthScope } from "../../../support/constructs.ts";

const options: MachineOptions = {
  image: "projects/rhcos-cloud/global/images/rhcos-9-6-gcp-x86-64",
  size: "n2-standard-4",
  zone: "europe-west1-b",
  subnet: { project: "sample-project", region: "europe-west1", name: "prod-x7k2p-master-subnet" },
  publicIp: false,
  rootVolume: { sizeGiB: 128, type: "pd-ssd" },
  secureBootOf010: true,
};

function digestsOf(changed: Partial<MachineOptions>) {
  let tag: Readonly<Record<string, string>> = {};
  const stack = synthScope((scope) => {
    const payload = payloadIn(scope);
    ({ tag } = new MachineSpec(scope, "machine-spec", {
      payload,
      replaceMachine: false,
      options: { ...options, ...changed },
    }));
  });
  const trigger = (id: string) =>
    Object.entries(stack.resource.terraform_data ?? {}).find(([name]) => name.startsWith(id))?.[1].triggers_replace as
      { machine: string } | undefined;
  return {
    tag: tag["konnectivity-bootstrap-made-of"],
    parts: trigger("payload_replacement_")?.machine,
    laterParts: trigger("payload_later-parts_")?.machine,
  };
}

describe("the machine's spec on Google Cloud", () => {
  // Synthesized with 0.1.0. Another digest would replace running machines.
  it.each([
    [true, "614d8f579fac84e2"],
    [false, "90cd8f9a877320eb"],
  ])("has the digest of 0.1.0 with secure boot %s", (secureBootOf010, digest) => {
    expect(digestsOf({ secureBootOf010 })).toMatchObject({ tag: `5555555555555555-${digest}`, parts: digest });
  });

  it("has the shielded VM options in a digest of their own, so that a change can replace the machine", () => {
    const on = { secureBoot: true, vtpm: true, integrityMonitoring: true };
    const all = [undefined, on, { ...on, secureBoot: false }, { ...on, vtpm: false, integrityMonitoring: false }];
    const found = all.map((shielded) => digestsOf({ shielded }));
    expect(new Set(found.map(({ laterParts }) => laterParts)).size).toBe(4);
    expect(new Set(found.map(({ parts }) => parts)).size).toBe(1);
  });
});
