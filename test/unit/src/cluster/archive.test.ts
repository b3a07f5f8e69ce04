import { describe, expect, it } from "vitest";
import { archivedFiles, entriesOf, sampleArchive } from "../../../support/archive.ts";

describe("an archive", () => {
  it("contains every file below its folder, after the entry of the file's own folder", async () => {
    const entries = await entriesOf(await sampleArchive());
    expect([...entries.keys()]).toEqual([
      ...["gathered/", "gathered/README"],
      ...[`gathered/${"n".repeat(100)}/`, `gathered/${"n".repeat(100)}/${"s".repeat(100)}.txt`],
      ...["gathered/node-0/", "gathered/node-0/log.txt"],
    ]);
    for (const [name, text] of archivedFiles) expect(entries.get(`gathered/${name}`)).toBe(text);
  });

  it("is the same for the same files and time", async () => {
    expect(await sampleArchive()).toEqual(await sampleArchive());
  });
});
