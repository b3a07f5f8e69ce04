import { isObject } from "../core/ignition/config.ts";
import { UserError, problem } from "../core/errors.ts";
import { readUserFile } from "../files/user-file.ts";

export const architectures = ["x86_64", "aarch64"] as const;
export type Architecture = (typeof architectures)[number];

/** The CoreOS stream: the machine image of a release for each cloud. */
export class Stream {
  readonly #file: string;
  readonly #architectures: Record<string, unknown>;

  constructor(file: string, architectures: Record<string, unknown>) {
    this.#file = file;
    this.#architectures = architectures;
  }

  /**
   * A value of an architecture.
   * @param path like images, aws, regions
   */
  get(architecture: Architecture, ...path: readonly string[]): unknown {
    return [architecture, ...path].reduce<unknown>(
      (value, key) => (isObject(value) ? value[key] : undefined),
      this.#architectures,
    );
  }

  /**
   * The error for a stream without an image of this kind.
   * @param option the option that can name an image instead
   */
  lacks(image: string, option: string): UserError {
    return new UserError(problem("stream-lacks-image", { file: this.#file, what: image, option }));
  }
}

/** Reads what `openshift-install coreos print-stream-json` printed. */
export function readStream(file: string): Stream {
  const text = readUserFile(file, 'save the output of "openshift-install coreos print-stream-json" to it');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isObject(value) || !isObject(value.architectures)) throw new UserError(problem("stream-invalid", { file }));
  return new Stream(file, value.architectures);
}
