import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { gateVariable } from "../../../src/cluster/gate-override.ts";
import {
  type Fixture,
  fixturesOf010,
  projectOf,
  stacksOf,
  touchedBy,
  useFixture,
} from "../../support/fixtures-of-0.1.0.ts";
import type { Project } from "../../support/stacks.ts";
import { Command } from "./command.ts";
import type { CloudUnderTest } from "./lifecycle.ts";
import { environmentOf } from "./deployment.ts";

/** The stored object and the digests of the payload have "payload" in their ids. */
const notThePayload = (touched: string) => !/\.payload[-_]/.test(touched);

/**
 * What 0.1.0 deployed in this cloud, handled by today's code and the real provider. Of most fixtures only the states
 * are here, so nothing is refreshed. One is deployed again, from 0.1.0's own description.
 */
export function testStatesOf010(tested: CloudUnderTest): void {
  const { cloud } = tested;
  const fixtures = fixturesOf010(cloud.name);
  const [first = expect.fail(`no fixtures of ${cloud.name}`)] = fixtures;

  /**
   * The cloud gives other ids to the same cluster every time.
   * @param among only the ids in this text
   */
  function withTodaysIds(text: string, fixture: Fixture, among = text): string {
    const then = (parse(fixture.config) as Record<string, Record<string, unknown>>)[cloud.name] ?? {};
    const now = cloud.options as Record<string, unknown>;
    return Object.keys(then)
      .filter((option) => typeof then[option] === "string" && typeof now[option] === "string")
      .filter((option) => among.includes(String(then[option])))
      .reduce((changed, option) => changed.replaceAll(String(then[option]), String(now[option])), text);
  }

  describe("what 0.1.0 deployed", () => {
    /** One folder for all of them: the provider is installed once. */
    let project: Project;
    async function terraform(stack: string, ...args: readonly string[]): Promise<string> {
      const cwd = join(project.outdir, "stacks", stack);
      const env = { ...environmentOf(cloud), [gateVariable]: "there is no cluster in these clouds" };
      const program = process.env.TERRAFORM_BINARY_NAME ?? "terraform";
      const { code, output } = await new Command(program, args, { cwd, env }).ended;
      expect(code, output).toBe(0);
      return output;
    }
    function synthesize(fixture: Fixture): void {
      // Only data sources ask the cloud. Other ids stay: the digest of what the machine was made of has them too.
      const asked = JSON.stringify(fixture.stack(`${cloud.name}-bootstrap`).data ?? {});
      const state = (text: string) => withTodaysIds(text, fixture, asked);
      useFixture(project, fixture, { config: state(fixture.config), state });
      project.synth();
    }
    beforeAll(async () => {
      project = projectOf(first);
      synthesize(first);
      for (const stack of stacksOf(first)) await terraform(stack, "init", "-input=false");
    });
    afterAll(() => {
      project.remove();
    });

    it.each(fixtures)(
      "is left alone by a plan, but for its payload, whose contents changed: $name",
      async (fixture) => {
        synthesize(fixture);
        for (const stack of stacksOf(fixture)) {
          const touched = touchedBy(await terraform(stack, "plan", "-json", "-refresh=false")).filter(notThePayload);
          // replaceMachine: true allows the replacement of the machine, and of what belongs to it, for a new payload.
          if (fixture.name !== "replace-machine" || stack !== `${cloud.name}-bootstrap`) expect(touched).toEqual([]);
          else expect(touched).toContainEqual(expect.stringMatching(/^replace .*\.machine$/));
        }
      },
    );

    it("is left alone while it runs, and can be destroyed", async () => {
      useFixture(project, { ...first, applied: false }, { config: withTodaysIds(first.config, first) });
      rmSync(join(project.folder, ".state"), { recursive: true });
      project.synth();
      for (const stack of stacksOf(first)) {
        // As 0.1.0 described it. Permissions are there at once.
        const text = withTodaysIds(JSON.stringify(first.stack(stack)), first).replace(
          /"WAIT_SECONDS":"\d+"/,
          '"WAIT_SECONDS":"0"',
        );
        writeFileSync(join(project.outdir, "stacks", stack, "cdk.tf.json"), text);
        await terraform(stack, "apply", "-auto-approve");
      }
      project.synth();
      const touched = touchedBy(await terraform(`${cloud.name}-bootstrap`, "plan", "-json"));
      expect(touched.filter(notThePayload)).toEqual([]);
      for (const stack of stacksOf(first).reverse()) {
        await terraform(stack, "destroy", "-auto-approve");
        expect(await terraform(stack, "state", "list")).toBe("");
      }
      await tested.cloudIsAsBefore();
    });
  });
}
