import type { CloudName } from "../../../support/clouds.ts";
import { projectFile } from "../../../../src/runtime/project-files.js";
import { Command } from "../command.ts";
import { ensurePython } from "../python.ts";

const shortLived = "it lives only as long as the bootstrap machine, and holds one object";

/** What checkov finds in a plan with default options and stays as it is, with the reason. */
export const accepted: Record<CloudName, Record<string, string>> = {
  aws: {
    CKV_AWS_18: `no access log: ${shortLived}`,
    CKV_AWS_21: "no versions: of the payload nothing may be left",
    CKV_AWS_126: "no detailed monitoring: the machine goes when the cluster stands",
    CKV_AWS_135: "not said, but on: every instance type of a current generation has EBS optimization by default",
    CKV_AWS_144: "no replication: of the payload nothing may be left, anywhere",
    CKV_AWS_145: "encrypted by S3's key; `payloadKmsKeyArn` takes one of yours",
    CKV2_AWS_61: `no lifecycle: ${shortLived}`,
    CKV2_AWS_62: `no event notifications: ${shortLived}`,
  },
  azure: {
    CKV_AZURE_33: "nobody uses its queues",
    CKV_AZURE_50: "the image has no agent that would install an extension",
    CKV_AZURE_59: "the machine's subnet has no private endpoint that we could count on; blobs are private all the same",
    CKV_AZURE_206: "no replication: of the payload nothing may be left, anywhere",
    CKV2_AZURE_1: `encrypted by Microsoft's key, not by one of yours: ${shortLived}`,
    CKV2_AZURE_21: `no access log: ${shortLived}`,
    CKV2_AZURE_33: "the machine's subnet has no private endpoint that we could count on",
    CKV2_AZURE_38: "no soft delete: of the payload nothing may be left",
  },
  google: {
    CKV_GCP_38: "encrypted by Google's key; `rootVolumeKmsKey` takes one of yours",
    CKV_GCP_62: `no access log: ${shortLived}`,
    CKV_GCP_63: `no access log: ${shortLived}`,
    CKV_GCP_78: "no versions: of the payload nothing may be left",
  },
};

/** And with `pointer: sas` on Azure. */
export const acceptedWithSas = {
  CKV2_AZURE_40: "a signed URL needs the account's keys; `pointer: identity` turns them off",
  CKV2_AZURE_41: "no policy for how long signed URLs are good: the only one has an end of its own, `sasHours`",
};

export const ensureCheckov = () => ensurePython("checkov", 290, projectFile("test/e2e/clouds/policy/requirements.txt"));

interface Report {
  readonly results: { readonly failed_checks: readonly { check_id: string }[] };
  readonly summary: { readonly passed: number };
}

/** What checkov says of a plan: the checks that fail, each once, and how many pass. */
export async function checkPlan(file: string, cwd: string): Promise<{ failed: string[]; passed: number }> {
  const args = ["-m", "checkov.main", "--file", file, "--framework", "terraform_plan", "--skip-download"];
  const { output } = await new Command(ensureCheckov(), [...args, "--compact", "--output", "json"], {
    cwd,
    env: process.env,
  }).ended;
  const { results, summary } = JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)) as Report;
  return { failed: [...new Set(results.failed_checks.map((check) => check.check_id))].sort(), passed: summary.passed };
}
