import { Aws } from "./aws/aws.ts";
import { testCloud } from "./cycle.ts";
import { place } from "./place.ts";

testCloud(new Aws(), place());
