import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ignition as debianIgnition, prepareForIgnition } from "../../../lab/ignition.ts";
import { Command } from "./command.ts";

export interface FirstBootProps {
  /** As Ignition calls the cloud. */
  readonly platform: string;
  readonly certificateFile: string;
  /** A folder for what it writes. */
  readonly near: string;
  /** @default - Debian's */
  readonly ignition?: string;
}

/** What a machine does first: real Ignition asks the metadata service for its user data, follows it to the payload, and applies it. */
export class FirstBoot {
  readonly #folder: string;
  readonly #root: string;
  readonly #path: string;
  readonly #props: FirstBootProps;
  /** What Ignition said. */
  log = "";

  constructor(props: FirstBootProps) {
    this.#props = props;
    this.#folder = mkdtempSync(join(props.near, "boot-"));
    this.#root = join(this.#folder, "root");
    // Ignition becomes the user core to write that user's ssh keys.
    chmodSync(this.#folder, 0o711);
    mkdirSync(this.#root);
    this.#path = prepareForIgnition(this.#root, this.#folder);
  }

  /** Whether it fetched the payload, found it to be the right one, and wrote it all. It stops at the first stage that fails. */
  async succeeds(): Promise<boolean> {
    for (const stage of ["fetch", "files"]) if (!(await this.#stage(stage))) return false;
    return true;
  }

  async #stage(stage: string): Promise<boolean> {
    const { platform, certificateFile, ignition = debianIgnition } = this.#props;
    const file = (name: string) => join(this.#folder, name);
    const args = [
      ...[ignition, `--platform=${platform}`, `--stage=${stage}`, `--root=${this.#root}`, "--log-to-stdout"],
      ...[`--config-cache=${file("ignition.json")}`, `--state-file=${file("state")}`, `--neednet=${file("neednet")}`],
    ];
    // No more than it needs: a setting of the user's own would count.
    const env = { PATH: this.#path, SSL_CERT_FILE: certificateFile };
    // It would ask some things for ever.
    const { code, output } = await new Command("timeout", ["60", ...args], { cwd: this.#folder, env }).ended;
    this.log += output;
    return code === 0;
  }

  /** A file on the machine, with its mode and owner; undefined if it is not there. */
  file(path: string): { content: string; mode: string; owner: string } | undefined {
    const place = join(this.#root, path);
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    const { mode, uid, gid } = found;
    return { content: readFileSync(place, "utf8"), mode: (mode & 0o7777).toString(8), owner: `${uid}:${gid}` };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
