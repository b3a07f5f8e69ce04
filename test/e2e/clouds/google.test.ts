import { Google } from "./google/google.ts";
import { CloudUnderTest, testCutOffDeploy, testLifecycle, testPlan, testProvider } from "./lifecycle.ts";
import { testEnv } from "./test-env.ts";
import { testStatesOf010 } from "./version-0.1.0.ts";

const tested = new CloudUnderTest(new Google(), testEnv());
testProvider(tested);
testLifecycle(tested);
testCutOffDeploy(tested);
testPlan(tested);
testStatesOf010(tested);
