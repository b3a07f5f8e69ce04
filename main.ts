import { App } from "cdktf";

/** Config in, one stack pair per configured platform out. No platform has a stack yet (stacks/README.md). */
const app = new App();
app.synth();
console.error("No platform has a stack yet: make the payload with `npx konnectivity-bootstrap payload build`.");
