import { type ChildProcess, execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { projectFile } from "../../../../src/runtime/project-files.js";
import { httpRequest } from "../http-request.ts";
import { ensurePython } from "../python.ts";
import { type FakeResponse, type Call, FakeServer, untilItPrints } from "../fake-server.ts";

const file = (name: string) => projectFile("test/e2e/clouds/aws", name);
const place = { address: "127.0.0.2", port: 8080 };

export const ensureMoto = () => ensurePython("moto", 140, file("requirements.txt"));

/** AWS's APIs: moto behind a TLS proxy, which can watch calls and cut them off. */
export class Moto extends FakeServer {
  #process: ChildProcess | undefined;
  #enforcing = false;

  async start(): Promise<void> {
    // Policies are not enforced until enforcePolicies(true).
    const env = { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: "1000000000" };
    const moto = spawn(ensureMoto(), [file("server.py"), place.address, String(place.port)], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = moto;
    await untilItPrints(moto, moto.stderr, "Running on", "moto");
  }

  override async close(): Promise<void> {
    this.#process?.kill();
    await super.close();
  }

  /** Turns the enforcement of policies on or off. */
  async enforcePolicies(enforced: boolean): Promise<void> {
    this.#enforcing = enforced;
    await this.#forward("POST", "/moto-api/reset-auth", {}, Buffer.from(enforced ? "0" : "1000000000"));
  }

  /** The output of a command of cluster.py. */
  async run(command: string, ...args: unknown[]): Promise<unknown> {
    const env = { ...process.env, ...operator, AWS_CA_BUNDLE: process.env.SSL_CERT_FILE };
    const given = args.map((argument) => JSON.stringify(argument));
    const { stdout } = await promisify(execFile)(ensureMoto(), [file("cluster.py"), command, ...given], {
      env,
      maxBuffer: 1e8,
    });
    return JSON.parse(stdout);
  }

  protected override async respond({ method, url, headers, body, host }: Call): Promise<FakeResponse> {
    // While it enforces policies, moto crashes on a call without a signature. AWS refuses it, and names the bucket's region.
    if (this.#enforcing && headers.authorization === undefined)
      return { status: 403, headers: { "X-Amz-Bucket-Region": host.split(".").at(-3) ?? "" } };
    const answer = await this.#forward(method, url, headers, body);
    // Calls that moto does not implement.
    if (answer.status === 501 || answer.status >= 599) this.unknown.push(`${method} ${host}${url}`);
    return answer;
  }

  async #forward(method: string, path: string, headers: Call["headers"] = {}, body?: Buffer): Promise<FakeResponse> {
    const { address: host, port: httpPort } = place;
    const said = await httpRequest({ host, httpPort, method, path, headers, body });
    const { connection: _, "transfer-encoding": __, ...rest } = said.headers;
    return { ...said, headers: rest };
  }
}

/** Whose credentials the operator has. */
export const operator = {
  AWS_ACCESS_KEY_ID: "operator",
  AWS_SECRET_ACCESS_KEY: "operator",
};
