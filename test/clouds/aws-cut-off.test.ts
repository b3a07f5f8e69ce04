import { Aws } from "./aws/aws.ts";
import { Tested, testCutOffDeploy, testPlan, testProvider } from "./cycle.ts";
import { place } from "./place.ts";

// Beside the machine's life: its provider is the slowest of the three.
const tested = new Tested(new Aws(), place());
testProvider(tested);
testCutOffDeploy(tested);
testPlan(tested);
