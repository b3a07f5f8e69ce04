import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { CloudName } from "../../support/clouds.ts";
import { cached, ensureBuilt, type GoProgram, isInCache, small } from "../../../lab/go-programs.js";

/** The Terraform provider that a cloud's stack is run with. */
interface Provider {
  readonly name: string;
  readonly version: string;
  /** How long building it takes on two cores. */
  readonly minutes: number;
  /** What else building it takes. @default - nothing special */
  readonly needs?: string;
}

const providers: Record<CloudName, Provider> = {
  aws: { name: "aws", version: "6.34.0", minutes: 36, needs: "6 GB of memory" },
  azure: { name: "azurerm", version: "5.2.0", minutes: 12 },
  google: { name: "google", version: "6.50.0", minutes: 5 },
};

/** The provider's source, and its binary's name as Terraform looks for it in a mirror. */
const programOf = ({ name, version, minutes, needs }: Provider): GoProgram => ({
  folder: `test/e2e/clouds/providers/${name}`,
  title: `the Terraform provider ${name} ${version}`,
  firstTime: `about ${minutes} minutes${needs === undefined ? "" : ` and ${needs}`}`,
  binaries: { [`terraform-provider-${name}_v${version}_x5`]: `github.com/hashicorp/terraform-provider-${name}` },
  ldflags: small,
});

const terraform = process.env.TERRAFORM_BINARY_NAME ?? "terraform";

/**
 * A mirror for Terraform with the cloud's provider: as `terraform init` gets it from a registry or from the user's own
 * mirror, or else built from source.
 */
export class ProviderMirror {
  readonly title: string;
  readonly #provider: Provider;
  readonly #program: GoProgram;
  readonly #name: string;

  constructor(cloud: CloudName) {
    this.#provider = providers[cloud];
    this.#program = programOf(this.#provider);
    const { name, version } = this.#provider;
    this.title = `${name} ${version}`;
    this.#name = `mirror-${name}-${version}`;
  }

  /** The estimated minutes until it is available: most of them are for building. */
  minutes(): number {
    const { name, minutes } = this.#provider;
    return this.#download() || isInCache(`provider-${name}`, this.#program) ? 0 : minutes;
  }

  /** The mirror's folder. */
  ensure(): string {
    if (this.#download()) return cached(this.#name, unreachable);
    const { name, version } = this.#provider;
    const [file = ""] = Object.keys(this.#program.binaries);
    const binary = join(ensureBuilt(`provider-${name}`, this.#program), file);
    // Links are made anew each time: the program may be another one by now.
    const folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-mirror-"));
    process.once("exit", () => {
      rmSync(folder, { recursive: true, force: true });
    });
    const link = join(folder, this.#address(), version, platformName(), file);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(binary, link);
    return folder;
  }

  /** Whether `terraform init` can download it, or did so earlier. */
  #download(): boolean {
    try {
      cached(this.#name, (unfinished) => {
        this.#inProject((project) => {
          const init = spawnSync(terraform, ["init", "-backend=false", "-input=false"], {
            cwd: project,
            env: { TF_REGISTRY_CLIENT_TIMEOUT: "5", TF_REGISTRY_DISCOVERY_RETRY: "0", ...process.env },
          });
          if (init.status !== 0) throw new Error("no registry and no mirror has it");
          // What init has laid out is a mirror already; from the user's mirror or cache it may be links, which may break.
          cpSync(join(project, ".terraform/providers"), unfinished, { recursive: true, dereference: true });
        }, unfinished);
      });
      return true;
    } catch {
      return false;
    }
  }

  /** The provider's place in a mirror: only Terraform knows the name of its registry. */
  #address(): string {
    return this.#inProject((project) => {
      const { stdout } = spawnSync(terraform, ["providers"], { cwd: project, encoding: "utf8" });
      const [, address] = /provider\[([^\]]+)\]/.exec(stdout) ?? [];
      if (address === undefined) throw new Error(`"${terraform} providers" names none`);
      return address;
    });
  }

  /** In a folder with a configuration that needs nothing but this provider. */
  #inProject<Result>(use: (folder: string) => Result, near = tmpdir()): Result {
    const { name, version } = this.#provider;
    const folder = mkdtempSync(join(near, "project-"));
    try {
      const needed = { [name]: { source: `hashicorp/${name}`, version } };
      writeFileSync(join(folder, "main.tf.json"), JSON.stringify({ terraform: { required_providers: needed } }));
      return use(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

const unreachable = () => {
  throw new Error("it was there a moment ago");
};

function platformName(): string {
  return `linux_${process.arch === "x64" ? "amd64" : process.arch}`;
}
