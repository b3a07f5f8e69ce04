import { App } from "cdktf";

/** Config in, one stack pair per configured platform out. */
const app = new App();
app.synth();
