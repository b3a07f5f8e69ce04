import { testCloud } from "./cycle.ts";
import { Google } from "./google/google.ts";
import { place } from "./place.ts";

testCloud(new Google(), place());
