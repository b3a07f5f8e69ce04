import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Inputs } from "../../stacks/resolve.ts";

/** Something that a stack makes in its cloud. */
export interface MadeResource {
  readonly address: string;
  readonly type: string;
  /** Its name in the cloud. @default - the cloud gives it one, or it has none */
  readonly name?: string;
}

/** Describes the stacks into a folder that is gone afterwards, and reads what is in them; empty stacks are left out. */
export async function describedStacks(inputs: Inputs): Promise<Record<string, MadeResource[]>> {
  // Only here: loading cdktf takes longer than all the rest of a command.
  const { describe, loadStackClasses, writeCode } = await import("../../stacks/app.ts");
  const outdir = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-check-"));
  try {
    const { app } = describe(inputs, await loadStackClasses(Object.keys(inputs.platforms)), outdir);
    writeCode(app, inputs);
    const folder = join(outdir, "stacks");
    return Object.fromEntries(
      readdirSync(folder).flatMap((stack) => {
        const made = resourcesOf(readFileSync(join(folder, stack, "cdk.tf.json"), "utf8"));
        return made === undefined ? [] : [[stack, made]];
      }),
    );
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** By type and by name. */
type Resources = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;

/** @returns undefined if the stack is empty */
function resourcesOf(stackText: string): MadeResource[] | undefined {
  const { resource } = JSON.parse(stackText) as { resource?: Resources };
  if (resource === undefined) return undefined;
  return Object.entries(resource)
    .filter(([type]) => type !== "terraform_data")
    .flatMap(([type, byId]) =>
      Object.entries(byId).map(([id, attributes]) => {
        const { tags } = attributes as { tags?: { Name?: unknown } };
        const name = [attributes.bucket, attributes.name, tags?.Name].find(
          (value): value is string => typeof value === "string" && !value.includes("${"),
        );
        return { address: `${type}.${id}`, type, ...(name !== undefined && { name }) };
      }),
    );
}
