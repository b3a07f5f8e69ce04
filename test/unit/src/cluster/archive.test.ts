import { describe, expect, it } from "vitest";
import { archiveOf } from "../../../../src/cluster/archive.ts";
import { entriesOf } from "../../../support/archive.ts";

const time = new Date("2026-11-18T12:00:00Z");
const files = new Map([
  ["README", "read me\n"],
  [`${"n".repeat(100)}/${"s".repeat(100)}.txt`, "long\n"],
  ["node-0/log.txt", "ä → 😀\n".repeat(100_000)],
]);
const archive = () => archiveOf({ files, folder: "gathered", time });

describe("an archive", () => {
  it("contains every file below its folder, after the entry of the file's own folder", async () => {
    const entries = await entriesOf(await archive());
    expect([...entries.keys()]).toEqual([
      ...["gathered/", "gathered/README"],
      ...[`gathered/${"n".repeat(100)}/`, `gathered/${"n".repeat(100)}/${"s".repeat(100)}.txt`],
      ...["gathered/node-0/", "gathered/node-0/log.txt"],
    ]);
    for (const [name, text] of files) expect(entries.get(`gathered/${name}`)).toBe(text);
  });

  it("is the same for the same files and time", async () => {
    expect(await archive()).toEqual(await archive());
  });
});
