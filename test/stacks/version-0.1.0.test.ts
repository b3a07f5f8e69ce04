import { describe, expect, it } from "vitest";
import { fixturesOf010, projectOf, stacksOf } from "../support/fixtures-of-0.1.0.ts";
import { only, type StackJson } from "../support/stacks.ts";

/** What today's stacks contain otherwise than those of 0.1.0, and why. */
interface Difference {
  readonly reason: string;
  readonly stack: string;
  /** Makes both the same, by changing what 0.1.0 made, or by leaving out what is new. */
  readonly level: (then: StackJson, today: StackJson) => void;
}

const differences: readonly Difference[] = [
  ...["aws", "azure", "google", "local"].map((platform) => ({
    reason: "the payload of 0.3.0 has other contents, so its digests differ, and nothing else about it",
    stack: `${platform}-bootstrap`,
    level: withSameDigests,
  })),
  {
    reason: "Google refuses shielded VM options for some images, so none is sent unless the config sets it",
    stack: "google-bootstrap",
    level: (then) => {
      delete only(then, "google_compute_instance").shielded_instance_config;
    },
  },
  {
    reason: "options that came after 0.1.0 have a digest of their own, or machines of 0.1.0 would be replaced",
    stack: "google-bootstrap",
    level: (_, today) => {
      leaveOut(today, "payload_later-parts_EFD526B5");
    },
  },
  {
    reason: "the machine boots after a wait for its new role, which itself comes after the role's policy",
    stack: "aws-bootstrap",
    level: (then, today) => {
      const policy = `aws_iam_role_policy.${Object.keys(then.resource.aws_iam_role_policy ?? {}).join()}`;
      const machine = only(then, "aws_instance");
      machine.depends_on = (machine.depends_on as string[]).filter((address) => address !== policy);
      leaveOut(today, "payload-reader_wait_0BF92C65");
    },
  },
];

/** Gives the payload of 0.1.0 the digests of today's. Both are the same with the tunnel off. */
function withSameDigests(then: StackJson, today: StackJson): void {
  const digests = (stack: StackJson) => {
    const replacements = Object.entries(stack.resource.terraform_data ?? {}).filter(([id]) =>
      id.startsWith("payload_replacement"),
    );
    const [, replacement] = replacements[0] ?? expect.fail("no digest of the payload");
    const short = (replacement.triggers_replace as { payload: string }).payload;
    const text = JSON.stringify(stack);
    const whole = new RegExp(`${short}[0-9a-f]{112}`).exec(text)?.[0];
    const [, md5] = /"content_md5":"([0-9a-f]{32})"/.exec(text) ?? [];
    return [whole, short, md5].filter((digest) => digest !== undefined);
  };
  const [old, current] = [digests(then), digests(today)];
  expect(old.length).toBe(current.length);
  const text = old.reduce((json, digest, index) => json.replaceAll(digest, current[index] ?? ""), JSON.stringify(then));
  Object.assign(then, JSON.parse(text));
}

/** Leaves out a terraform_data resource that is new, and every list entry that refers to it. */
function leaveOut(stack: StackJson, id: string): void {
  const { [id]: found, ...rest } = stack.resource.terraform_data ?? {};
  expect(found, `${id}: take it out of the list of differences`).toBeDefined();
  stack.resource.terraform_data = rest;
  const withoutIt = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((one) => one !== `terraform_data.${id}`).map(withoutIt);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutIt(one)]));
  };
  stack.resource = withoutIt(stack.resource) as StackJson["resource"];
}

const fixtures = fixturesOf010();

it("has fixtures of every platform and every config", () => {
  const names = (platform: string) => fixtures.filter((one) => one.platform === platform).map(({ name }) => name);
  const configs = ["defaults", "firewall-external", "fixed-address", "replace-machine", "tunnel-off"];
  for (const platform of ["aws", "azure", "google", "local"]) expect(names(platform), platform).toEqual(configs);
});

describe.each(fixtures)("the config of $platform, $name", (fixture) => {
  it("gives the stacks that 0.1.0 made of it, but for the differences listed here", () => {
    const project = projectOf(fixture);
    try {
      const stacks = project.synth();
      for (const name of stacksOf(fixture)) {
        const then = fixture.stack(name);
        const today = stacks[name] ?? expect.fail(`no ${name}`);
        for (const { stack, level } of differences) if (stack === name) level(then, today);
        expect(today).toEqual(then);
      }
    } finally {
      project.remove();
    }
  });
});
