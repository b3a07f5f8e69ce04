import { Aws } from "./aws/aws.ts";
import { testCloud, testProvider } from "./cycle.ts";
import { place } from "./place.ts";

const cloud = new Aws();
testProvider(cloud, place());
testCloud(cloud, place());
