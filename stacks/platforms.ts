import type { App } from "cdktf";
import { aws } from "../constructs/aws/config.ts";
import { azure } from "../constructs/azure/config.ts";
import { google } from "../constructs/google/config.ts";
import { local } from "../constructs/local/config.ts";
import { defineConfig } from "../src/config/config-format.ts";
import type { Platform } from "../src/config/platform.ts";
import type { BootstrapStack } from "./bootstrap-stack.ts";

/** A platform's bootstrap stack: its props are those of every platform, and the platform's inputs under its name. */
export type StackClass = new (scope: App, id: string, props: never) => BootstrapStack;

/**
 * Every platform, one line each, in the order of the config file's schema. A stack class is loaded on demand: cdktf and its
 * providers take longer to load than most commands run.
 */
export const platforms = [
  { ...aws, stack: async () => (await import("./aws.ts")).AwsBootstrapStack },
  { ...local, stack: async () => (await import("./local.ts")).LocalBootstrapStack },
  { ...azure, stack: async () => (await import("./azure.ts")).AzureBootstrapStack },
  { ...google, stack: async () => (await import("./google.ts")).GoogleBootstrapStack },
] as const satisfies readonly (Platform & { stack(): Promise<StackClass> })[];

/** What the platforms' stacks are made from, by the platform's name. */
export type PlatformInputs = {
  readonly [P in (typeof platforms)[number] as P["name"]]?: ReturnType<P["resolve"]>;
};

/** The format of the user's files. */
export const configFormat = defineConfig(platforms);

/** Names of all platforms, the clouds first. */
export const platformNames = [
  ...configFormat.clouds,
  ...configFormat.platforms.filter(({ lab }) => lab !== undefined),
].map(({ name }) => name);
