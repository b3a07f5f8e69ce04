import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { projectFile, projectRoot } from "../../../../src/runtime/project-files.js";

const main = pathToFileURL(projectFile("src/cli/main.ts")).href;

/** The packages that a module loads. */
function packagesOf(module: string): Set<string> {
  const script = `import { createRequire } from "node:module";
    await import(${JSON.stringify(module)});
    for (const file of Object.keys(createRequire(import.meta.url).cache)) console.log(file);`;
  const output = execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
    encoding: "utf8",
    cwd: projectRoot,
  });
  return new Set(output.match(/(?<=node_modules\/)(?:@[^/]+\/)?[^/]+(?=\/)/g));
}

it("starts without loading cdktf, which takes longer than everything else", () => {
  const packages = packagesOf(main);
  expect(packages).toContain("commander");
  expect(packages).not.toContain("cdktf");
});
