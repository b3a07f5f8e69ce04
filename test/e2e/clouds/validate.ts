import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { cases, hasInstallerTunnel, tags } from "../../support/matrix.ts";
import { changedExample, exampleOf, Project, type StackJson } from "../../support/stacks.ts";
import { Command, type Ended } from "./command.ts";

/**
 * What the real provider says of a platform's stack, without a cloud, for every combination of options. Each is a module of
 * one configuration.
 * @param change mutates the first of them, and only that one is validated
 */
export async function validateEvery(platform: string, near: string, change?: (text: string) => string): Promise<Ended> {
  const cwd = mkdtempSync(join(near, "matrix-"));
  const modules: Record<string, { source: string }> = {};
  let provider: StackJson["provider"] | undefined;
  const wanted = cases.filter((one) => one.platform === platform);
  for (const { name, option, rest } of change === undefined ? wanted : wanted.slice(0, 1)) {
    const project = new Project(changedExample(platform, option, { tags, ...rest }), {
      ...exampleOf(platform),
      shape: hasInstallerTunnel(rest) ? "4.23-gate-on" : "4.18",
    });
    try {
      const stack = project.synth()[`${platform}-bootstrap`];
      const module = name.replaceAll(/[^a-z0-9]+/gi, "-");
      mkdirSync(join(cwd, module));
      // Only the uppermost configuration has a state.
      const { backend: _, ...terraform } = stack?.terraform ?? {};
      // A module without a provider of its own takes the uppermost one's, which is started once for all.
      provider ??= stack?.provider;
      const own = isDeepStrictEqual(stack?.provider, provider) ? undefined : stack?.provider;
      const text = JSON.stringify({ ...stack, provider: own, terraform });
      writeFileSync(join(cwd, module, "main.tf.json"), change?.(text) ?? text);
      copyFileSync(
        join(project.outdir, "stacks", `${platform}-bootstrap`, "payload.ign"),
        join(cwd, module, "payload.ign"),
      );
      modules[module] = { source: `./${module}` };
    } finally {
      project.remove();
    }
  }
  writeFileSync(join(cwd, "main.tf.json"), JSON.stringify({ provider, module: modules }));
  const terraform = process.env.TERRAFORM_BINARY_NAME ?? "terraform";
  const env = { ...process.env, CHECKPOINT_DISABLE: "1", TF_CLI_ARGS: "-no-color" };
  const init = await new Command(terraform, ["init", "-input=false"], { cwd, env }).ended;
  return init.code === 0 ? new Command(terraform, ["validate"], { cwd, env }).ended : init;
}
