import { describe } from "vitest";
import { Azure } from "./azure/azure.ts";
import { testCloud, testProvider } from "./cycle.ts";
import { place } from "./place.ts";

testProvider(new Azure("sas"), place());
describe("pointer: sas", () => {
  testCloud(new Azure("sas"), place());
});
describe("pointer: identity", () => {
  testCloud(new Azure("identity"), place(), false);
});
