import { describe } from "vitest";
import { Azure } from "./azure/azure.ts";
import { Tested, testCutOffDeploy, testLife, testPlan, testProvider } from "./cycle.ts";
import { place } from "./place.ts";

describe("pointer: sas", () => {
  const tested = new Tested(new Azure("sas"), place());
  testProvider(tested);
  testLife(tested);
  testCutOffDeploy(tested);
  testPlan(tested);
});
describe("pointer: identity", () => {
  const tested = new Tested(new Azure("identity"), place());
  testLife(tested, false);
  testPlan(tested);
});
