import { Google } from "./google/google.ts";
import { Tested, testCutOffDeploy, testLife, testPlan, testProvider } from "./cycle.ts";
import { place } from "./place.ts";
import { testStatesOf010 } from "./version-0.1.0.ts";

const tested = new Tested(new Google(), place());
testProvider(tested);
testLife(tested);
testCutOffDeploy(tested);
testPlan(tested);
testStatesOf010(tested);
