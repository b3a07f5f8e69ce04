import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findProgram, terraformWarnings } from "../../../stacks/terraform-program.ts";

const folder = mkdtempSync(join(tmpdir(), "terraform-program-"));
const [full, empty] = [join(folder, "full"), join(folder, "empty")];
for (const path of [full, empty]) mkdirSync(path);
for (const name of ["terraform", "tofu"]) writeFileSync(join(full, name), "", { mode: 0o755 });
mkdirSync(join(empty, "tofu"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const underCdktf = { CDKTF_CONTINUE_SYNTH_ON_ERROR_ANNOTATIONS: "true" };

it("finds a program that can be started, and nothing else", () => {
  expect(findProgram("tofu", { PATH: `${empty}:${full}` })).toBe(join(full, "tofu"));
  expect(findProgram(join(full, "tofu"), {})).toBe(join(full, "tofu"));
  chmodSync(join(full, "tofu"), 0o644);
  expect(findProgram("tofu", { PATH: full })).toBeUndefined();
});

it("warns under cdktf if Terraform is missing, before cdktf fails in its own words", () => {
  expect(terraformWarnings({ ...underCdktf, PATH: full })).toEqual([]);
  expect(terraformWarnings({ PATH: empty })).toEqual([]);
  expect(terraformWarnings({ ...underCdktf, PATH: empty })).toEqual([
    {
      code: "terraform-missing",
      message:
        "The program terraform, which a deploy and a destroy need, is not on the PATH: install Terraform 1.10 or newer, or OpenTofu and set TERRAFORM_BINARY_NAME=tofu.",
    },
  ]);
  expect(terraformWarnings({ ...underCdktf, PATH: full, TERRAFORM_BINARY_NAME: "other" })[0]?.message).toContain(
    "The program other, which",
  );
});
