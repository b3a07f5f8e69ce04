import { isObject } from "../core/ignition/config.ts";
import { ami } from "../../constructs/aws/config.ts";
import { imageLink } from "../../constructs/google/resource-link.ts";
import { UserError, problem } from "../core/errors.ts";
import { readUserFile } from "../files/user-file.ts";

export const architectures = ["x86_64", "aarch64"] as const;
export type Architecture = (typeof architectures)[number];

/** The CoreOS stream: which machine image a release wants, by cloud. */
export class Stream {
  readonly #file: string;
  readonly #architectures: Record<string, unknown>;

  constructor(file: string, architectures: Record<string, unknown>) {
    this.#file = file;
    this.#architectures = architectures;
  }

  /** The AMI of a region. */
  awsImage(architecture: Architecture, region: string): string {
    const { data } = ami().safeParse(this.#get(architecture, "images", "aws", "regions", region, "image"));
    if (data !== undefined) return data;
    throw this.#lacks(`an AWS image for ${architecture} in ${region}`, "aws.rhcosAmi");
  }

  /** Google's image, as a path of its API. */
  googleImage(architecture: Architecture): string {
    const [project, name] = ["project", "name"].map((key) => this.#get(architecture, "images", "gcp", key));
    if (typeof project === "string" && typeof name === "string") {
      const { data } = imageLink().safeParse(`projects/${project}/global/images/${name}`);
      if (data !== undefined) return data;
    }
    throw this.#lacks(`a Google image for ${architecture}`, "google.image");
  }

  #get(...path: readonly string[]): unknown {
    return path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), this.#architectures);
  }

  #lacks(what: string, option: string): UserError {
    return new UserError(problem("stream-lacks-image", { file: this.#file, what, option }));
  }
}

/** Reads what `openshift-install coreos print-stream-json` printed. */
export function readStream(file: string): Stream {
  const text = readUserFile(file, 'save what "openshift-install coreos print-stream-json" prints there');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isObject(value) || !isObject(value.architectures)) throw new UserError(problem("stream-invalid", { file }));
  return new Stream(file, value.architectures);
}
