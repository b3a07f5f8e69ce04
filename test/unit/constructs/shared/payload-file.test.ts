import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TerraformStack, Testing } from "cdktf";
import { afterAll, describe, expect, it } from "vitest";
import type { PayloadFile } from "../../../../constructs/shared/payload-file.ts";
import { absentPayload, payloadContent, payloadIn, synthScope } from "../../../support/constructs.ts";

const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-payload-file-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const fileIn = (create: (stack: TerraformStack) => PayloadFile) =>
  create(new TerraformStack(Testing.app({ outdir: folder }), "sample"));

describe("the payload file", () => {
  it("has the payload's hashes, and no precondition", () => {
    const file = fileIn((stack) => payloadIn(stack));
    expect(file).toMatchObject({
      name: "payload.ign",
      present: true,
      sha512: payloadContent.sha512,
      md5: createHash("md5").update(payloadContent.text).digest("hex"),
      preconditions: [],
    });
  });

  it("has zeros for hashes without a payload, and a precondition that stops a deploy", () => {
    let file: PayloadFile | undefined;
    const stack = synthScope((scope) => {
      file = payloadIn(scope, absentPayload);
    });
    expect(file).toMatchObject({ present: false, sha512: "0".repeat(128), md5: "0".repeat(32) });
    const [local = ""] = Object.keys(stack.locals ?? {});
    expect(stack.locals).toEqual({ [local]: false });
    expect(file?.preconditions).toEqual([
      {
        condition: `\${local.${local}}`,
        errorMessage:
          'Nothing can be deployed: there is no bootstrap.ign in ocp. Give the folder in which "openshift-install create ignition-configs" ran as installDir.',
      },
    ]);
  });

  it("points to itself with its hash", () => {
    const pointer = fileIn((stack) => payloadIn(stack)).pointer({ url: "s3://bucket/payload.ign" });
    expect(JSON.parse(pointer)).toMatchObject({
      ignition: {
        config: {
          replace: {
            source: "s3://bucket/payload.ign",
            verification: { hash: `sha512-${payloadContent.sha512}` },
          },
        },
      },
    });
  });

  it("is written for its owner only, and deleted when there is no payload any more", () => {
    const path = join(folder, "stacks/sample/payload.ign");
    mkdirSync(join(folder, "stacks/sample"), { recursive: true });
    fileIn((stack) => payloadIn(stack)).write();
    expect(readFileSync(path, "utf8")).toBe(payloadContent.text);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "stacks/sample")).mode & 0o777).toBe(0o700);
    fileIn((stack) => payloadIn(stack, absentPayload)).write();
    expect(existsSync(path)).toBe(false);
  });
});
