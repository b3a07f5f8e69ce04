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
import { spoilings } from "./policy/spoiled.ts";
import { checkPlan } from "./policy/checkov.ts";
import { FirstBoot } from "./first-boot.ts";
import type { Place } from "./place.ts";
import { validateEvery } from "./validate.ts";

const sha512 = (bytes: Buffer) => createHash("sha512").update(bytes).digest("hex");

/** What makes the tunnel on the machine, with its mode. */
const assets = {
  "/usr/local/bin/bootkube.sh": "555",
  "/usr/local/bin/konnectivity-bootstrap.sh": "555",
  "/usr/local/bin/konnectivity-bootstrap-pki.sh": "555",
  "/opt/openshift/konnectivity-bootstrap/settings.sh": "600",
  "/opt/openshift/konnectivity-bootstrap/egress-selector.yaml": "600",
  "/opt/openshift/konnectivity-bootstrap/kube-apiserver-override.yaml": "600",
  "/opt/openshift/konnectivity-bootstrap/server-pod.yaml": "600",
  "/opt/openshift/konnectivity-bootstrap/agents/agents.yaml": "600",
  "/opt/openshift/konnectivity-bootstrap/agents/secret.yaml": "600",
};

/** The pointer, written out: every byte of user data counts. */
function pointerText({ source, signature, httpTotal }: ExpectedPointer, object: Buffer, userData: string): string {
  const [query = ""] = signature?.exec(userData) ?? [];
  const timeouts = httpTotal === undefined ? "" : `,"timeouts":{"httpTotal":${httpTotal}}`;
  return `{"ignition":{"version":"3.2.0","config":{"replace":{"source":"${source}${query}","verification":{"hash":"sha512-${sha512(object)}"}}}${timeouts}}}`;
}

const succeeds = ({ code, output }: Ended) => {
  // From the first error on: before that there is nothing but progress.
  expect(code, output.slice(Math.max(0, output.search(/^Error|Error:/m)))).toBe(0);
};

/** What the cloud's provider says of the stack before there is any cloud. */
export function testProvider({ cloud: { name, mistake }, place: { folder } }: Tested): void {
  describe("the provider", () => {
    it("takes the stack with every combination of options", async () => {
      succeeds(await validateEvery(name, folder));
    });

    it("sees a mistake that Terraform itself does not know", async () => {
      const { right, wrong, said } = mistake;
      const { code, output } = await validateEvery(name, folder, (text) => text.replaceAll(right, wrong));
      expect(code).toBe(1);
      expect(output).toContain(said);
    });
  });
}

/** A cloud with a cluster in it, and a user's folder for it. It is there while its tests run. */
export class Tested {
  readonly cloud: Cloud;
  readonly place: Place;
  #before: string[] | undefined;
  #deployment: Deployment | undefined;

  constructor(cloud: Cloud, place: Place) {
    this.cloud = cloud;
    this.place = place;
    beforeAll(async () => {
      await cloud.start(place.certificate, place.folder);
      this.#before = await cloud.everything();
      this.#deployment = new Deployment(cloud, place.folder);
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

  /** Nothing but what was there before. */
  async cloudIsAsBefore(): Promise<void> {
    expect(await this.cloud.everything()).toEqual(this.#before);
  }

  async nothingIsLeft(): Promise<void> {
    await this.cloudIsAsBefore();
    expect(this.deployment.inState()).toEqual([]);
  }

  /** A command was killed, and did not do all that it was to do. */
  async wasCutOff({ code, output }: Ended): Promise<void> {
    expect(code, output).not.toBe(0);
    expect(await this.cloud.everything()).not.toEqual(this.#before);
  }
}

/**
 * A bootstrap machine's life in a cloud: one test goes on where the one before it ended.
 * @param eventful whether it is changed, replaced and its removal cut off too
 */
export function testLife(tested: Tested, eventful = true): void {
  const { cloud } = tested;
  const { folder, certificate } = tested.place;
  describe("a bootstrap machine", () => {
    it("is deployed", async () => {
      const { code, output } = await tested.deployment.deploy().ended;
      // The cdktf command does not say why a plan fails.
      const why = code === 0 ? "" : (await tested.deployment.terraform("plan")).output;
      expect(code, `${output}\n${why}`).toBe(0);
    });

    it("is in the cloud as it is meant to be", async () => {
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

    it("has a payload that strangers cannot read", async () => {
      expect(await cloud.anonymousStatus()).toBeGreaterThanOrEqual(400);
    });

    it("needs no second deploy", async () => {
      const { code, output } = await tested.deployment.terraform("plan", "-detailed-exitcode");
      expect(code, output).toBe(0);
    });
  });

  describe("at first boot", () => {
    async function boot(
      identity: "its own" | "another" | "none",
      look: (machine: FirstBoot, succeeded: boolean) => void,
    ): Promise<void> {
      const service = await cloud.metadata(identity);
      await service.start();
      const { ignitionPlatform: platform, ignition } = cloud;
      const machine = new FirstBoot({ platform, certificateFile: certificate.file, near: folder, ignition });
      try {
        const succeeded = await machine.succeeds();
        look(machine, succeeded);
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

  describe.runIf(eventful)("after that", () => {
    it("another payload, another size and another disk leave the machine alone", async () => {
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

    it("with replaceMachine it is replaced, by one with all of that", async () => {
      const { machine } = await cloud.deployed();
      tested.deployment.configure(cloud.otherParts, { replaceMachine: true });
      succeeds(await tested.deployment.deploy().ended);
      const after = await cloud.deployed();
      expect(after.machine).not.toBe(machine);
      expect(after.memberOf).toEqual(cloud.expected.memberOf);
      const userData = String(after.userData);
      expect(userData).toBe(pointerText(cloud.expected.pointer, after.object, userData));
    });

    it("nothing is removed while no cluster says that it may be", async () => {
      const all = await cloud.everything();
      const { code, output } = await tested.deployment.destroyUnasked();
      expect(code).not.toBe(0);
      expect(output.replace(/\s+/g, " ")).toContain("cannot be known, so nothing was touched");
      expect(await cloud.everything()).toEqual(all);
    });

    it("a removal that was cut off is finished by the next, from a machine without the install folder", async () => {
      const removal = tested.deployment.destroy();
      cloud.when("machine is removed", () => {
        removal.kill(() => tested.deployment.stateIsWhole());
      });
      await tested.wasCutOff(await removal.ended);
      succeeds(await tested.deployment.destroyElsewhere());
      await tested.nothingIsLeft();
    });
  });

  it.skipIf(eventful)("is removed, and nothing is left", async () => {
    succeeds(await tested.deployment.destroy().ended);
    await tested.nothingIsLeft();
  });
}

/** What policies say of the plan. The folder must have been deployed from before. */
export function testPlan(tested: Tested): void {
  const { cloud } = tested;
  describe("its plan", () => {
    let text = "";
    beforeAll(async () => {
      text = await tested.deployment.planAsJson();
    });

    it("opens 8091 to the nodes, and plans that do not are refused", () => {
      const { sources } = cloud.expected;
      expect(agentPortMistakes(JSON.parse(text) as Plan, sources)).toEqual([]);
      const { type, ways } = spoilings[cloud.name];
      for (const [said, spoil] of ways) {
        const plan = JSON.parse(text) as Plan;
        const rule = plan.planned_values.root_module.resources.find((one) => one.type === type);
        if (rule === undefined) throw new Error(`no ${type}`);
        spoil(rule, plan);
        expect(agentPortMistakes(plan, sources).join("\n")).toContain(said);
      }
    });

    it("has nothing for checkov to find but what is accepted", async () => {
      const file = join(tested.place.folder, "plan.json");
      writeFileSync(file, text);
      const { failed, passed } = await checkPlan(file, tested.place.folder);
      expect(passed).toBeGreaterThan(20);
      expect(failed).toEqual(Object.keys(cloud.accepted).sort());
    });
  });
}

export function testCutOffDeploy(tested: Tested): void {
  it("of a deploy that was cut off nothing is left", async () => {
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
