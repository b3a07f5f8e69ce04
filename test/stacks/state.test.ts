import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { changedExample, exampleOf, exampleStack, metadata, Project } from "../support/stacks.ts";

const { files } = exampleOf("aws");
const stateOf = (state: object) =>
  exampleStack("aws", { region: "eu-central-1" }, { state, infrastructureName: metadata.infraID }).terraform.backend;

describe("the state of a stack", () => {
  it("is local by default: beside the config file, outside the folder that cdktf clears, readable by its owner only", () => {
    const project = new Project(changedExample("aws"), { files });
    try {
      expect(project.synth()["aws-bootstrap"]?.terraform.backend).toEqual({
        local: { path: "../../../.state/aws-bootstrap.tfstate" },
      });
      const modeOf = (path: string) => statSync(join(project.folder, path)).mode & 0o777;
      expect(modeOf(".state")).toBe(0o700);
      expect(modeOf(".state/aws-bootstrap.tfstate")).toBe(0o600);
      // An existing state is kept.
      project.write(".state/aws-bootstrap.tfstate", "a state");
      project.synth();
      expect(readFileSync(join(project.folder, ".state/aws-bootstrap.tfstate"), "utf8")).toBe("a state");
    } finally {
      project.remove();
    }
  });

  it("is refused in a folder that cannot be created", () => {
    expect(() => stateOf({ local: { folder: "/proc/konnectivity" } })).toThrow(
      "/proc/konnectivity cannot be written: nothing can be created in that folder; nothing was changed.",
    );
  });

  it("can be in S3, encrypted and with a lock file", () => {
    const s3 = { bucket: "states", region: "eu-west-1", keyPrefix: "clusters/prod", kmsKeyId: "alias/states" };
    expect(stateOf({ s3 })).toEqual({
      s3: {
        bucket: "states",
        region: "eu-west-1",
        key: "clusters/prod/aws-bootstrap.tfstate",
        kms_key_id: "alias/states",
        encrypt: true,
        use_lockfile: true,
      },
    });
  });

  it("can be in Google Cloud Storage", () => {
    const kmsEncryptionKey = "projects/p/locations/l/keyRings/r/cryptoKeys/k";
    expect(stateOf({ gcs: { bucket: "states", keyPrefix: "prod", kmsEncryptionKey } })).toEqual({
      gcs: { bucket: "states", prefix: "prod/aws-bootstrap", kms_encryption_key: kmsEncryptionKey },
    });
  });

  it("can be in Azure storage, with Entra ID", () => {
    const where = { resourceGroupName: "rg", storageAccountName: "states", containerName: "states" };
    expect(
      stateOf({ azurerm: { ...where, keyPrefix: "prod", subscriptionId: "00000000-0000-0000-0000-000000000001" } }),
    ).toEqual({
      azurerm: {
        resource_group_name: "rg",
        storage_account_name: "states",
        container_name: "states",
        key: "prod/aws-bootstrap.tfstate",
        subscription_id: "00000000-0000-0000-0000-000000000001",
        use_azuread_auth: true,
      },
    });
  });
});
