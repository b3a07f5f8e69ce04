import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { archivedFiles, sampleArchive } from "../../support/archive.ts";

const work = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-archive-"));
afterAll(() => {
  rmSync(work, { recursive: true });
});

it("an archive is unpacked by the real tar, readable for its owner only", async () => {
  writeFileSync(join(work, "archive.tar.gz"), await sampleArchive());
  expect(spawnSync("tar", ["-C", work, "-xpzf", join(work, "archive.tar.gz")])).toMatchObject({ status: 0 });
  const modeOf = (name: string) => (statSync(join(work, "gathered", name)).mode & 0o777).toString(8);
  expect(["", "node-0"].map(modeOf)).toEqual(["700", "700"]);
  expect([...archivedFiles.keys()].map(modeOf)).toEqual(["600", "600", "600"]);
});
