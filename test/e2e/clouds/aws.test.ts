import { Aws } from "./aws/aws.ts";
import { Tested, testLife } from "./cycle.ts";
import { place } from "./place.ts";

testLife(new Tested(new Aws(), place()));
