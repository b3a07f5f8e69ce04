import { Aws } from "./aws/aws.ts";
import { Tested, testCutOffDeploy, testPlan, testProvider } from "./cycle.ts";
import { place } from "./place.ts";
import { testStatesOf010 } from "./version-0.1.0.ts";

// Beside the machine's life: its provider is the slowest of the three.
const tested = new Tested(new Aws(), place());
testProvider(tested);
testCutOffDeploy(tested);
testPlan(tested);
testStatesOf010(tested);
