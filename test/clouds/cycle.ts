import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Cloud, ExpectedPointer } from "./cloud.ts";
import type { Ended } from "./command.ts";
import { Deployment } from "./deployment.ts";
import { accepted, checkPlan } from "./policy/checkov.ts";
import { firstBoot } from "./first-boot.ts";
import type { Place } from "./place.ts";
import { validateEvery } from "./validate.ts";

const sha512 = (bytes: Buffer) => createHash("sha512").update(bytes).digest("hex");

/** The pointer, written out: every byte of user data counts. */
function pointerText({ source, signature, httpTotal }: ExpectedPointer, object: Buffer, userData: string): string {
  const [query = ""] = signature?.exec(userData) ?? [];
  const timeouts = httpTotal === undefined ? "" : `,"timeouts":{"httpTotal":${httpTotal}}`;
  return `{"ignition":{"version":"3.2.0","config":{"replace":{"source":"${source}${query}","verification":{"hash":"sha512-${sha512(object)}"}}}${timeouts}}}`;
}

/** A bootstrap machine's whole life in a cloud: one test goes on where the one before it ended. */
export function testCloud(cloud: Cloud, { folder, certificate }: Place): void {
  let before: string[] = [];
  let deployment: Deployment;

  beforeAll(async () => {
    await cloud.start(certificate, folder);
    before = await cloud.everything();
    deployment = new Deployment(cloud, folder);
  });
  afterEach(() => {
    expect(cloud.unknownCalls()).toEqual([]);
  });
  afterAll(() => cloud.stop());

  const nothingIsLeft = async () => {
    expect(await cloud.everything()).toEqual(before);
    expect(deployment.inState()).toEqual([]);
  };
  const succeeds = ({ code, output }: Ended) => {
    // From the first error on: before that there is nothing but progress.
    expect(code, output.slice(Math.max(0, output.search(/^Error|Error:/m)))).toBe(0);
  };
  const isCutOff = ({ code, output }: Ended) => {
    expect(code, output).not.toBe(0);
  };

  describe("the provider", () => {
    it("takes the stack with every combination of options", async () => {
      succeeds(await validateEvery(cloud.name, folder));
    });

    it("sees a mistake that Terraform itself does not know", async () => {
      const { right, wrong } = cloud.mistake;
      const { code, output } = await validateEvery(cloud.name, folder, (text) => text.replaceAll(right, wrong));
      expect(code).toBe(1);
      expect(output).toContain(cloud.mistake.said);
    });
  });

  describe("a bootstrap machine", () => {
    it("is deployed", async () => {
      const deployed = await deployment.deploy().ended;
      // The cdktf command does not say why a plan fails.
      if (deployed.code !== 0) succeeds(await deployment.terraform("plan"));
      succeeds(deployed);
    });

    it("is in the cloud as it is meant to be", async () => {
      const { userData, tags, openPorts, memberOf, object } = await cloud.deployed();
      const { sources, destination, clusterTag, pointer } = cloud.expected;
      const agents = openPorts.filter(({ port }) => port.includes("8091"));
      expect(agents.map(({ port }) => port)).toEqual(agents.map(() => "tcp 8091"));
      expect(agents.flatMap((rule) => rule.sources).sort(), "each source once").toEqual([...sources].sort());
      for (const rule of agents) expect(rule.destination).toMatch(destination);
      expect(openPorts, "no other port is open").toEqual(agents);
      expect(memberOf).toEqual(cloud.expected.memberOf);
      expect(tags).toMatchObject({ team: "platform", ...clusterTag });
      expect(object.equals(deployment.payload())).toBe(true);
      expect(String(userData)).toBe(pointerText(pointer, object, String(userData)));
    });

    it("has a payload that strangers cannot read", async () => {
      expect(await cloud.anonymousStatus()).toBeGreaterThanOrEqual(400);
    });

    it("needs no second deploy", async () => {
      const { code, output } = await deployment.terraform("plan", "-detailed-exitcode");
      expect(code, output).toBe(0);
    });
  });

  describe("at first boot", () => {
    async function boot(identity: "its own" | "another" | "none") {
      const service = await cloud.metadata(identity);
      await service.start();
      try {
        return await firstBoot(cloud.ignitionPlatform, certificate.file, folder);
      } finally {
        await service.close();
        expect(service.unknown, "what Ignition asked and nobody answered").toEqual([]);
      }
    }

    it("the machine gets its payload", async () => {
      const { code, config, log } = await boot("its own");
      expect(code, log).toBe(0);
      const files = (text: string) =>
        (JSON.parse(text) as { storage: { files: { path: string }[] } }).storage.files.map(({ path }) => path).sort();
      expect(files(config ?? "")).toEqual(files(String(deployment.payload())));
    });

    it.each(["another", "none"] as const)("a machine with %s identity gets nothing", async (identity) => {
      expect(await boot(identity)).toMatchObject({ code: 1, config: undefined });
    });

    it("a payload with one byte changed is refused", async () => {
      await cloud.flipByte();
      const { code, log } = await boot("its own");
      expect(code).toBe(1);
      expect(log).toContain("hash verification failed");
      await cloud.flipByte();
    });
  });

  describe("after that", () => {
    it("another payload leaves the machine alone, and is stored", async () => {
      const { machine } = await cloud.deployed();
      deployment.changePayload();
      const { code, output } = await deployment.deploy().ended;
      expect(code, output).toBe(0);
      const after = await cloud.deployed();
      expect(after.machine).toBe(machine);
      expect(after.object.equals(deployment.payload())).toBe(true);
      expect(String(after.userData)).not.toContain(sha512(after.object));
      expect(output.replaceAll("\n", " ")).toContain("The machine keeps the payload that it booted with");
    });

    it("nothing is removed while no cluster says that it may be", async () => {
      const all = await cloud.everything();
      const { code, output } = await deployment.destroyUnasked();
      expect(code).not.toBe(0);
      expect(output.replace(/\s+/g, " ")).toContain("cannot be known, so nothing was touched");
      expect(await cloud.everything()).toEqual(all);
    });

    it("a removal that was cut off is finished by the next, from a machine without the install folder", async () => {
      const removal = deployment.destroy();
      cloud.when("machine is removed", () => {
        removal.kill(() => deployment.stateIsWhole());
      });
      isCutOff(await removal.ended);
      expect(await cloud.everything()).not.toEqual(before);
      succeeds(await deployment.destroyElsewhere());
      await nothingIsLeft();
    });

    it("its plan has nothing for checkov to find but what is accepted", async () => {
      const file = join(folder, "plan.json");
      writeFileSync(file, await deployment.planAsJson());
      const { failed, passed } = await checkPlan(file, folder);
      expect(passed).toBeGreaterThan(20);
      expect(failed).toEqual(Object.keys(accepted[cloud.name]).sort());
    });

    it("of a deploy that was cut off nothing is left either", async () => {
      const deploy = deployment.deploy();
      cloud.when("machine is made", () => {
        deploy.kill(() => deployment.stateIsWhole());
      });
      isCutOff(await deploy.ended);
      expect(await cloud.everything()).not.toEqual(before);
      succeeds(await deployment.destroy().ended);
      await nothingIsLeft();
    });
  });
}
