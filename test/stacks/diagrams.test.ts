import { describe, expect, it, test } from "vitest";
import { withGenerated } from "../../scripts/mermaid.ts";
import { stackDiagram, stackDiagrams } from "../../scripts/stack-graph.ts";
import { platformNames } from "../../stacks/platforms.ts";
import { readProjectText } from "../../src/runtime/project-files.js";

const at = (path: string) => ({ "//": { metadata: { path } } });

describe("docs/stacks.md", async () => {
  const diagrams = await stackDiagrams();

  it("has every platform", () => {
    expect(Object.keys(diagrams)).toEqual(platformNames);
  });

  it.each(Object.keys(diagrams))("shows the stacks of %s as they are synthesized", (platform) => {
    const page = readProjectText("docs/stacks.md");
    const current = withGenerated(page, platform, diagrams[platform] ?? "");
    expect(page, "run `npm run docs:diagrams`").toBe(current);
  });
});

test("a diagram counts resources by type, and leaves out arrows that others imply", () => {
  const bootstrap = {
    resource: {
      cloud_machine: { machine: { ...at("x-bootstrap/machine/Default"), depends_on: ["cloud_bucket.store_bucket"] } },
      cloud_bucket: { store_bucket: at("x-bootstrap/store/bucket") },
      cloud_rule: {
        "rules_rule-0": { ...at("x-bootstrap/rules/0"), target: "${cloud_machine.machine.id}" },
        "rules_rule-1": { ...at("x-bootstrap/rules/1"), bucket: "${cloud_bucket.store_bucket.id}" },
      },
    },
    data: { cloud_zone: { rules_zone: at("x-bootstrap/rules/zone") } },
  };
  const teardown = { resource: { terraform_data: { gate: at("x-teardown/gate/Default") } } };
  expect(stackDiagram("x", bootstrap, teardown).split("\n")).toEqual([
    "```mermaid",
    "flowchart TD",
    "  subgraph x-teardown",
    "    direction TB",
    '    x_teardown_gate["<b>gate</b><br/>terraform_data"]',
    "  end",
    "  subgraph x-bootstrap",
    "    direction TB",
    '    x_bootstrap_machine["<b>machine</b><br/>cloud_machine"]',
    '    x_bootstrap_rules["<b>rules</b><br/>cloud_rule × 2<br/>data cloud_zone"]',
    '    x_bootstrap_store["<b>store</b><br/>cloud_bucket"]',
    "    x_bootstrap_machine --> x_bootstrap_store",
    "    x_bootstrap_rules --> x_bootstrap_machine",
    "  end",
    "  x-teardown -.-> x-bootstrap",
    "```",
  ]);
});

test("a page without the markers is an error", () => {
  expect(() => withGenerated("text", "aws", "diagram")).toThrow("lacks <!-- aws: generated -->");
});
