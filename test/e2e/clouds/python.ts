import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cached } from "../../../lab/go-programs.js";

/** A Python with everything that a requirements file names, in those versions and no others. */
export function ensurePython(title: string, megabytes: number, requirements: string): string {
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 16);
  const folder = cached(`${title}-${digest}`, (unfinished) => {
    console.error(`Installing ${title} (once, one to three minutes, ${megabytes} MB) …`);
    const run = (program: string, ...args: string[]) => {
      const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
      const reason = error?.message ?? stderr.trim().split("\n").at(-1) ?? "";
      if (status !== 0)
        throw new Error(`${title} cannot be installed (${reason}): it needs Python 3 with venv and pip.`);
    };
    run("python3", "-m", "venv", unfinished);
    run(join(unfinished, "bin/python"), "-m", "pip", "install", "--quiet", "--no-deps", "--requirement", requirements);
  });
  return join(folder, "bin/python");
}
