/** Builds a payload from a bootstrap.ign of the size in argv and prints the process's peak memory in kB. 0: builds none. */
import { makePayload } from "../../src/core/bootstrap.ts";
import { readTunnel } from "../../src/core/konnectivity/options.ts";
import { sampleText } from "../../src/core/sample/sample.ts";

const bytes = Number(process.argv[2]);
const text = sampleText("4.18", { bytes });
if (bytes > 0) makePayload(text, readTunnel({}), new Date());
console.log(process.resourceUsage().maxRSS);
