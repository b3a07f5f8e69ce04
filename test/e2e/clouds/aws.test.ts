import { Aws } from "./aws/aws.ts";
import { CloudUnderTest, testLifecycle } from "./lifecycle.ts";
import { testEnv } from "./test-env.ts";

testLifecycle(new CloudUnderTest(new Aws(), testEnv()));
