import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LabLayout } from "../src/core/lab-layout.ts";

/** The file in every machine that holds the lab's layout. */
export const layoutFile = "/opt/lab/layout.json";

/** The lab creates this file on the bootstrap machine when the bootstrap may end. */
export const finishFile = "/opt/lab/finish";

/** @param root the machine's root folder, seen from outside */
export const readLayout = (root = "/"): LabLayout =>
  JSON.parse(readFileSync(join(root, layoutFile), "utf8")) as LabLayout;
