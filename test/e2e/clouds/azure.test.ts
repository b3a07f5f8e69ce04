import { describe } from "vitest";
import { Azure } from "./azure/azure.ts";
import { CloudUnderTest, testCutOffDeploy, testLifecycle, testPlan, testProvider } from "./lifecycle.ts";
import { testEnv } from "./test-env.ts";
import { testStatesOf010 } from "./version-0.1.0.ts";

describe("pointer: sas", () => {
  const tested = new CloudUnderTest(new Azure("sas"), testEnv());
  testProvider(tested);
  testLifecycle(tested);
  testCutOffDeploy(tested);
  testPlan(tested);
  testStatesOf010(tested);
});
describe("pointer: identity", () => {
  const tested = new CloudUnderTest(new Azure("identity"), testEnv());
  testLifecycle(tested, false);
  testPlan(tested);
});
