import { describe, expect, it } from "vitest";
import { exampleStack, metadata, only, resources } from "../../../support/stacks.ts";

const bucket = expect.stringMatching(/^\$\{google_storage_bucket\.[\w-]+\.name\}$/) as string;
const accountOf = (infraID: string) =>
  only(exampleStack("google", {}, {}, { metadata: { ...metadata, infraID } }), "google_service_account").account_id;

describe("the machine's identity on Google", () => {
  const stack = exampleStack("google");

  it("can read that one bucket, and nothing else", () => {
    expect(only(stack, "google_storage_bucket_iam_member")).toMatchObject({
      bucket,
      role: "roles/storage.objectViewer",
      member: expect.stringMatching(/^serviceAccount:\$\{google_service_account\.[\w-]+\.email\}$/) as string,
    });
    expect(Object.keys(stack.resource).filter((type) => type.includes("iam"))).toEqual([
      "google_storage_bucket_iam_member",
    ]);
  });

  it("may use no other API from the machine", () => {
    expect(only(stack, "google_compute_instance").service_account).toEqual({
      email: expect.stringMatching(/^\$\{google_service_account\.[\w-]+\.email\}$/) as string,
      scopes: ["https://www.googleapis.com/auth/devstorage.read_only"],
    });
  });

  it.each([
    ["sample-x7k2p", "sample-x7k2p-3e9f8b1c"],
    ["a", "a-3e9f8b1c"],
    ["a-very-long-cluster-n-x7k2p", "a-very-long-cluster-n-3e9f8b1c"],
    ["twenty-characters-xx-x7k2p", "twenty-characters-xx-3e9f8b1c"],
  ])("of %s is called %s: a name that Google takes", (infraID, accountId) => {
    expect(accountOf(infraID)).toBe(accountId);
    expect(accountId).toMatch(/^[a-z][-a-z0-9]{4,28}[a-z0-9]$/);
  });

  it("can be a given one: then none is made, but it may read the bucket too", () => {
    const serviceAccount = "mine@my-project.iam.gserviceaccount.com";
    const given = exampleStack("google", { serviceAccount });
    expect(resources(given, "google_service_account")).toEqual([]);
    expect(only(given, "google_storage_bucket_iam_member")).toMatchObject({
      bucket,
      member: `serviceAccount:${serviceAccount}`,
    });
    expect(only(given, "google_compute_instance").service_account).toEqual({
      email: serviceAccount,
      scopes: ["https://www.googleapis.com/auth/devstorage.read_only"],
    });
  });
});
