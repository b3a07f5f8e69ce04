import { Google } from "./google/google.ts";
import { testCloud, testProvider } from "./cycle.ts";
import { place } from "./place.ts";

const cloud = new Google();
testProvider(cloud, place());
testCloud(cloud, place());
