import { describe } from "vitest";
import { Azure } from "./azure/azure.ts";
import { testCloud, testProvider } from "./cycle.ts";
import { place } from "./place.ts";

testProvider(new Azure("sas"), place());
describe.each(["sas", "identity"] as const)("pointer: %s", (way) => {
  testCloud(new Azure(way), place());
});
