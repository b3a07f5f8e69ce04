import { Aws } from "./aws/aws.ts";
import { CloudUnderTest, testCutOffDeploy, testPlan, testProvider } from "./lifecycle.ts";
import { testEnv } from "./test-env.ts";
import { testStatesOf010 } from "./version-0.1.0.ts";

// Beside the machine's life: its provider is the slowest of the three.
const tested = new CloudUnderTest(new Aws(), testEnv());
testProvider(tested);
testCutOffDeploy(tested);
testPlan(tested);
testStatesOf010(tested);
