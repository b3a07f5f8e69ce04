import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { decodeContents } from "../../../src/core/ignition/contents.ts";
import type { IgnitionConfig } from "../../../src/core/ignition/config.ts";
import type { Cloud, ExpectedPointer } from "./cloud.ts";
import type { Ended } from "./command.ts";
import { Deployment } from "./deployment.ts";
import { agentPortMistakes, type Plan } from "./policy/agent-port.ts";
import { mutations } from "./policy/mutations.ts";
import { checkPlan } from "./policy/checkov.ts";
import { FirstBoot } from "./first-boot.ts";
import type { TestEnv } from "./test-env.ts";
import { validateEvery } from "./validate.ts";

const sha512 = (bytes: Buffer) => createHash("sha512").update(bytes).digest("hex");

/** The tunnel's files on the machine, with their modes. */
const assets = {
  "/usr/local/bin/bootkube.sh": "555",
  "/usr/local/bin/konnectivity-bootstrap.sh": "555",
  "/usr/local/bin/konnectivity-bootstrap-setup.sh": "555",
  "/usr/local/bin/konnectivity-bootstrap-address.sh": "555",
  "/opt/openshift/konnectivity-bootstrap/settings.sh": "600",
  "/opt/openshift/konnectivity-bootstrap/kube-apiserver-override.yaml": "600",
  "/opt/openshift/konnectivity-bootstrap/templates.yaml": "600",
};

/** The pointer, written out: every byte of user data counts. */
function pointerText({ source, signature, httpTotal }: ExpectedPointer, object: Buffer, userData: string): string {
  const [query = ""] = signature?.exec(userData) ?? [];
  const timeouts = httpTotal === undefined ? "" : `,"timeouts":{"httpTotal":${httpTotal}}`;
  return `{"ignition":{"version":"3.2.0","config":{"replace":{"source":"${source}${query}","verification":{"hash":"sha512-${sha512(object)}"}}}${timeouts}}}`;
}

const succeeds = ({ code, output }: Ended) => {
  // Before the first error there is only progress output.
  expect(code, output.slice(Math.max(0, output.search(/^Error|Error:/m)))).toBe(0);
};

/** Whether the cloud's provider accepts the stack, without a cloud. */
export function testProvider({ cloud: { name, mistake }, env: { folder } }: CloudUnderTest): void {
  describe("the provider", () => {
    it("accepts the stack with every combination of options", async () => {
      succeeds(await validateEvery(name, folder));
    });

    it("reports an error that Terraform itself does not know", async () => {
      const { right, wrong, said } = mistake;
      const { code, output } = await validateEvery(name, folder, (text) => text.replaceAll(right, wrong));
      expect(code).toBe(1);
      expect(output).toContain(said);
    });
  });
}

/** A fake cloud with a cluster in it, and a user's folder for it. It exists while its tests run. */
export class CloudUnderTest {
  readonly cloud: Cloud;
  readonly env: TestEnv;
  #before: string[] | undefined;
  #deployment: Deployment | undefined;

  constructor(cloud: Cloud, env: TestEnv) {
    this.cloud = cloud;
    this.env = env;
    beforeAll(async () => {
      await cloud.start(env.certificate, env.folder);
      this.#before = await cloud.everything();
      this.#deployment = new Deployment(cloud, env.folder);
    });
    afterEach(() => {
      expect(cloud.unknownCalls()).toEqual([]);
    });
    afterAll(() => cloud.stop());
  }

  get deployment(): Deployment {
    if (this.#deployment === undefined) throw new Error("only in a test");
    return this.#deployment;
  }

  /** The cloud contains what it contained before the deploy, and nothing else. */
  async cloudIsAsBefore(): Promise<void> {
    expect(await this.cloud.everything()).toEqual(this.#before);
  }

  async nothingIsLeft(): Promise<void> {
    await this.cloudIsAsBefore();
    expect(this.deployment.inState()).toEqual([]);
  }

  /** A command was killed before it had done everything. */
  async wasCutOff({ code, output }: Ended): Promise<void> {
    expect(code, output).not.toBe(0);
    expect(await this.cloud.everything()).not.toEqual(this.#before);
  }
}

/**
 * A bootstrap machine's life in a cloud: each test continues where the one before it ended.
 * @param withChanges whether the machine is also changed and replaced, and its removal interrupted
 */
export function testLifecycle(tested: CloudUnderTest, withChanges = true): void {
  testDeployed(tested);
  testFirstBoot(tested);
  if (withChanges) {
    testChanges(tested);
    return;
  }
  it("is removed, and nothing is left", async () => {
    succeeds(await tested.deployment.destroy().ended);
    await tested.nothingIsLeft();
  });
}

function testDeployed(tested: CloudUnderTest): void {
  const { cloud } = tested;
  describe("a bootstrap machine", () => {
    it("is deployed", async () => {
      const { code, output } = await tested.deployment.deploy().ended;
      // The cdktf command does not say why a plan fails.
      const why = code === 0 ? "" : (await tested.deployment.terraform("plan")).output;
      expect(code, `${output}\n${why}`).toBe(0);
    });

    it("is in the cloud as it is configured", async () => {
      const { userData, tags, openPorts, memberOf, store, object } = await cloud.deployed();
      const { sources, destination, clusterTag, pointer } = cloud.expected;
      const agents = openPorts.filter(({ port }) => port.includes("8091"));
      expect(agents.map(({ port }) => port)).toEqual(agents.map(() => "tcp 8091"));
      expect(agents.flatMap((rule) => rule.sources).sort(), "each source once").toEqual([...sources].sort());
      for (const rule of agents) expect(rule.destination).toMatch(destination);
      expect(openPorts, "no other port is open").toEqual(agents);
      expect(memberOf).toEqual(cloud.expected.memberOf);
      expect(tags).toMatchObject({ team: "platform", ...clusterTag });
      expect(store).toMatchObject(cloud.expected.store);
      expect(object.equals(tested.deployment.payload())).toBe(true);
      expect(String(userData)).toBe(pointerText(pointer, object, String(userData)));
    });

    it("has a payload that anonymous requests cannot read", async () => {
      expect(await cloud.anonymousStatus()).toBeGreaterThanOrEqual(400);
    });

    it("needs no second deploy", async () => {
      const { code, output } = await tested.deployment.terraform("plan", "-detailed-exitcode");
      expect(code, output).toBe(0);
    });
  });
}

function testFirstBoot(tested: CloudUnderTest): void {
  const { cloud } = tested;
  const { folder, certificate } = tested.env;
  describe("at first boot", () => {
    async function boot(
      identity: "its own" | "another" | "none",
      inspect: (machine: FirstBoot, succeeded: boolean) => void,
    ): Promise<void> {
      const service = await cloud.metadata(identity);
      await service.start();
      const { ignitionPlatform: platform, ignition } = cloud;
      const machine = new FirstBoot({ platform, certificateFile: certificate.file, near: folder, ignition });
      try {
        const succeeded = await machine.succeeds();
        inspect(machine, succeeded);
      } finally {
        machine.remove();
        await service.close();
        expect(service.unknown, "what Ignition asked and nobody answered").toEqual([]);
      }
    }
    const getsNothing = (machine: FirstBoot, succeeded: boolean) => {
      expect(succeeded, machine.log).toBe(false);
      for (const path of Object.keys(assets)) expect(machine.file(path)).toBeUndefined();
    };

    it("the machine gets its payload, and has the tunnel's files", async () => {
      const { storage } = JSON.parse(String(tested.deployment.payload())) as IgnitionConfig;
      const files = (storage?.files ?? []).filter(({ contents }) => contents !== undefined);
      await boot("its own", (machine, succeeded) => {
        expect(succeeded, machine.log).toBe(true);
        expect(files.map(({ path }) => ({ path, ...machine.file(path) }))).toEqual(
          files.map(({ path, mode = 0, contents }) => ({
            path,
            content: String(decodeContents(contents)),
            mode: mode.toString(8),
            owner: "0:0",
          })),
        );
        const modes = Object.keys(assets).map((path) => [path, machine.file(path)?.mode]);
        expect(Object.fromEntries(modes)).toEqual(assets);
      });
    });

    it.each(["another", "none"] as const)("a machine with %s identity gets nothing", async (identity) => {
      await boot(identity, getsNothing);
    });

    it("a payload with one byte changed is refused", async () => {
      await cloud.flipByte();
      await boot("its own", (machine, succeeded) => {
        getsNothing(machine, succeeded);
        expect(machine.log).toContain("hash verification failed");
      });
      await cloud.flipByte();
    });
  });
}

function testChanges(tested: CloudUnderTest): void {
  const { cloud } = tested;
  describe("after that", () => {
    it("a changed payload, size and disk leave the machine alone", async () => {
      const { machine } = await cloud.deployed();
      tested.deployment.changePayload();
      tested.deployment.configure(cloud.otherParts);
      const { code, output } = await tested.deployment.deploy().ended;
      expect(code, output).toBe(0);
      const after = await cloud.deployed();
      expect(after.machine).toBe(machine);
      expect(after.object.equals(tested.deployment.payload()), "it is stored").toBe(true);
      expect(String(after.userData)).not.toContain(sha512(after.object));
      const said = output.replaceAll("\n", " ");
      expect(said).toContain("The machine keeps the payload that it booted with");
      expect(said).toContain("The machine stays as it was made");
    });

    it("with replaceMachine it is replaced by a machine with all of these changes", async () => {
      const { machine } = await cloud.deployed();
      tested.deployment.configure(cloud.otherParts, { replaceMachine: true });
      succeeds(await tested.deployment.deploy().ended);
      const after = await cloud.deployed();
      expect(after.machine).not.toBe(machine);
      expect(after.memberOf).toEqual(cloud.expected.memberOf);
      const userData = String(after.userData);
      expect(userData).toBe(pointerText(cloud.expected.pointer, after.object, userData));
    });

    it("nothing is removed while no cluster says that it can be", async () => {
      const all = await cloud.everything();
      const { code, output } = await tested.deployment.destroyUnasked();
      expect(code).not.toBe(0);
      expect(output.replace(/\s+/g, " ")).toContain("so nothing was changed");
      expect(await cloud.everything()).toEqual(all);
    });

    it("an interrupted removal is finished by the next one, from a machine without the install folder", async () => {
      const removal = tested.deployment.destroy();
      cloud.when("machine is removed", () => {
        removal.kill(() => tested.deployment.stateIsWhole());
      });
      await tested.wasCutOff(await removal.ended);
      succeeds(await tested.deployment.destroyElsewhere());
      await tested.nothingIsLeft();
    });
  });
}

/** What policies say about the plan. The folder must have been deployed before. */
export function testPlan(tested: CloudUnderTest): void {
  const { cloud } = tested;
  describe("its plan", () => {
    let text = "";
    beforeAll(async () => {
      text = await tested.deployment.planAsJson();
    });

    it("opens 8091 to the nodes only, and mutated plans are refused", () => {
      const { sources } = cloud.expected;
      expect(agentPortMistakes(JSON.parse(text) as Plan, sources)).toEqual([]);
      const { type, cases } = mutations[cloud.name];
      for (const [said, mutate] of cases) {
        const plan = JSON.parse(text) as Plan;
        const rule = plan.planned_values.root_module.resources.find((one) => one.type === type);
        if (rule === undefined) throw new Error(`no ${type}`);
        mutate(rule, plan);
        expect(agentPortMistakes(plan, sources).join("\n")).toContain(said);
      }
    });

    it("has no checkov findings other than the accepted ones", async () => {
      const file = join(tested.env.folder, "plan.json");
      writeFileSync(file, text);
      const { failed, passed } = await checkPlan(file, tested.env.folder);
      expect(passed).toBeGreaterThan(20);
      expect(failed).toEqual(Object.keys(cloud.accepted).sort());
    });
  });
}

export function testCutOffDeploy(tested: CloudUnderTest): void {
  it("an interrupted deploy leaves nothing behind once it is destroyed", async () => {
    const { cloud, deployment } = tested;
    const deploy = deployment.deploy();
    cloud.when("machine is made", () => {
      deploy.kill(() => deployment.stateIsWhole());
    });
    await tested.wasCutOff(await deploy.ended);
    succeeds(await deployment.destroy().ended);
    await tested.nothingIsLeft();
    expect(() => deployment.payload(), "nor the payload on disk").toThrow("ENOENT");
  });
}
