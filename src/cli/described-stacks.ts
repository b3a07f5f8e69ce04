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

/** Describes the stacks into a folder that is gone afterwards, and reads what is in them. */
export async function describedStacks(inputs: Inputs): Promise<Record<string, MadeResource[]>> {
  // Only here: loading cdktf takes longer than all the rest of a command.
  const { describe, loadStackClasses, writeCode } = await import("../../stacks/app.ts");
  const outdir = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-check-"));
  try {
    const { app } = describe(inputs, await loadStackClasses(Object.keys(inputs.platforms)), outdir);
    writeCode(app, inputs);
    const folder = join(outdir, "stacks");
    return Object.fromEntries(
      readdirSync(folder).map((stack) => [
        stack,
        resourcesOf(readFileSync(join(folder, stack, "cdk.tf.json"), "utf8")),
      ]),
    );
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** By type and by name. */
type Resources = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;

function resourcesOf(stackText: string): MadeResource[] {
  const { resource = {} } = JSON.parse(stackText) as { resource?: Resources };
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
