import { join } from "node:path";
import type { Session } from "../../src/cli/acceptance-steps.ts";
import type { Project } from "./stacks.ts";

/** A run of `acceptance` in a project's folder. Nothing is shown, and every question is answered with yes. */
export function sessionOf(project: Project, platform: string, changes: Partial<Session> = {}): Session {
  const inputs = project.inputs();
  return {
    platform,
    configFile: project.configFile,
    inputs,
    lab: inputs.labs[platform],
    folder: join(project.folder, "acceptance"),
    outputFolder: project.outdir,
    kubeconfig: join(project.folder, "kubeconfig"),
    ssh: undefined,
    waitMinutes: 0,
    environment: {},
    signal: new AbortController().signal,
    say: () => undefined,
    show: () => undefined,
    showFailed: () => undefined,
    ask: () => Promise.resolve(),
    ...changes,
  };
}
