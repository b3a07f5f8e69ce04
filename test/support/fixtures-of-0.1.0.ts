import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFile } from "../../src/runtime/project-files.js";
import { Project, type StackJson } from "./stacks.ts";

const fixtures = projectFile("test/fixtures/0.1.0");
const input = (name: string) => readFileSync(join(fixtures, "inputs", name), "utf8");

const namesIn = (folder: string) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/** What version 0.1.0 made of one config: test/fixtures/0.1.0/README.md. */
export interface Fixture {
  readonly platform: string;
  readonly name: string;
  /** The config file's text. */
  readonly config: string;
  /** Whether it was applied, so that there are states. */
  readonly applied: boolean;
  /** A stack as 0.1.0 synthesized it. */
  readonly stack: (name: string) => StackJson;
}

export const stacksOf = ({ platform }: Fixture) => [`${platform}-bootstrap`, `${platform}-teardown`];

/** All of them, or those of one platform. */
export function fixturesOf010(wanted?: string): Fixture[] {
  return namesIn(fixtures)
    .filter((platform) => platform !== "inputs" && (wanted === undefined || platform === wanted))
    .flatMap((platform) =>
      namesIn(join(fixtures, platform)).map((name) => {
        const file = (of: string) => join(fixtures, platform, name, of);
        return {
          platform,
          name,
          config: readFileSync(file("konnectivity.yaml"), "utf8"),
          applied: readdirSync(file(".")).some((one) => one.endsWith(".tfstate")),
          stack: (stack) => JSON.parse(readFileSync(file(`${stack}.tf.json`), "utf8")) as StackJson,
        };
      }),
    );
}

export interface Changes {
  /** Another text for the config file. */
  readonly config?: string;
  /** Changes the text of a state. */
  readonly state?: (text: string) => string;
}

/**
 * The folder of a user who has the fixture's inputs. It is one level below the clone, where the fixture was made: the
 * states hold paths to the command line.
 */
export function projectOf(fixture: Fixture, changes?: Changes): Project {
  const project = new Project(fixture.config, {
    folder: mkdtempSync(projectFile("fixture-")),
    shape: "none",
    metadata: JSON.parse(input("metadata.json")) as object,
  });
  project.write("ocp/bootstrap.ign", input("bootstrap.ign"));
  mkdirSync(join(project.folder, ".state"), { mode: 0o700 });
  useFixture(project, fixture, changes);
  return project;
}

/** Gives the folder the fixture's config, and its states if 0.1.0 applied it. */
export function useFixture(project: Project, fixture: Fixture, changes: Changes = {}): void {
  const { platform, name, applied } = fixture;
  const { config = fixture.config, state = (text) => text } = changes;
  project.write("konnectivity.yaml", config);
  if (!applied) return;
  for (const stack of stacksOf(fixture)) {
    const text = readFileSync(join(fixtures, platform, name, `${stack}.tfstate`), "utf8");
    project.write(`.state/${stack}.tfstate`, state(text));
  }
}

interface Message {
  readonly type: string;
  readonly change?: { readonly resource: { readonly addr: string }; readonly action: string };
}

/**
 * What a plan does to resources that exist, one line each. Empty if it leaves all of them alone.
 * @param output of `terraform plan -json`
 */
export function touchedBy(output: string): string[] {
  const messages = output.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Message] : []));
  if (!messages.some(({ type }) => type === "change_summary")) return [`the plan failed: ${output}`];
  return messages.flatMap(({ type, change }) =>
    type !== "planned_change" || change === undefined || ["noop", "create", "read"].includes(change.action)
      ? []
      : [`${change.action} ${change.resource.addr}`],
  );
}
