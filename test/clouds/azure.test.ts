import { Azure } from "./azure/azure.ts";
import { testCloud } from "./cycle.ts";
import { place } from "./place.ts";

testCloud(new Azure(), place());
