import { describe } from "vitest";
import { Azure } from "./azure/azure.ts";
import { Tested, testCutOffDeploy, testLife, testPlan, testProvider } from "./cycle.ts";
import { place } from "./place.ts";
import { testStatesOf010 } from "./version-0.1.0.ts";

describe("pointer: sas", () => {
  const tested = new Tested(new Azure("sas"), place());
  testProvider(tested);
  testLife(tested);
  testCutOffDeploy(tested);
  testPlan(tested);
  testStatesOf010(tested);
});
describe("pointer: identity", () => {
  const tested = new Tested(new Azure("identity"), place());
  testLife(tested, false);
  testPlan(tested);
});
