import { Google } from "./google/google.ts";
import { Tested, testCutOffDeploy, testLife, testPlan, testProvider } from "./cycle.ts";
import { place } from "./place.ts";

const tested = new Tested(new Google(), place());
testProvider(tested);
testLife(tested);
testCutOffDeploy(tested);
testPlan(tested);
