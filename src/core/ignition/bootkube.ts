import { type Problem, problem } from "../errors.ts";
import type { Release } from "../releases.ts";
import { linePlaces, type LinePlace, ShellStructureError } from "./shell-structure.ts";

/** The path of the installer's bootkube.sh in releases 4.12 to 5.2. */
export const bootkubePath = "/usr/local/bin/bootkube.sh";

/**
 * The four places where lines are inserted, in their order in the script. Each is one whole line that every release has
 * exactly once. Lines further down the render call differ between releases (its last flag has five shapes); the first does not.
 */
export const anchors = {
  setup: { line: "if [ ! -f kube-apiserver-bootstrap.done ]", place: "before", depth: 0 },
  render: { line: "\t\t/usr/bin/cluster-kube-apiserver-operator render \\", place: "after", depth: 1 },
  manifests: { line: 'echo "Starting cluster-bootstrap..."', place: "before", depth: 0 },
  cleanup: { line: "touch /opt/openshift/.bootkube.done", place: "before", depth: 0 },
} as const satisfies Record<string, { line: string; place: "before" | "after"; depth: number }>;

export type Anchor = keyof typeof anchors;
export const anchorNames = Object.keys(anchors) as readonly Anchor[];

/** Whole lines for each anchor, each ending with a newline. */
export type Insertions = Readonly<Record<Anchor, string>>;

/** For each anchor the index in the script where its lines go. */
export type AnchorOffsets = Readonly<Record<Anchor, number>>;

/** What the inserted lines use, apart from the anchors. */
const prerequisites = [
  {
    what: "line `. /usr/local/bin/release-image.sh`",
    found: /^\. \/usr\/local\/bin\/release-image\.sh$/m,
    why: "defines image_for",
  },
  { what: "call of record_service_stage_start", found: /^\s*record_service_stage_start "/m, why: "records the stages" },
];

export function isBootstrapInPlace(script: string): boolean {
  return /^\s*BOOTSTRAP_INPLACE="?true"?\s*$/m.test(script);
}

/** From 4.23 on the installer has a tunnel of its own. Its files always exist; this flag, only with the feature gate on. */
export function hasInstallerTunnelFlag(script: string): boolean {
  return script.includes("--config-override-files=/assets/konnectivity-config-override.yaml");
}

/** The release class, detected from the script and from whether the installer's own konnectivity.sh exists. */
export function detectRelease(script: string, hasInstallerTunnelFiles: boolean): Release {
  if (hasInstallerTunnelFiles) return "4.23+";
  return /--payload-version="?\$\{?VERSION\b/.test(script) ? "4.14-4.22" : "4.12-4.13";
}

/** Finds all four anchors, or reports everything that is wrong. */
export function findAnchors(script: string, release: Release): AnchorOffsets | Problem[] {
  let places: LinePlace[];
  try {
    places = linePlaces(script);
  } catch (error) {
    if (!(error instanceof ShellStructureError)) throw error;
    return [problem("bootkube-unbalanced", { line: error.line, detail: error.message })];
  }
  const problems: Problem[] = prerequisites
    .filter(({ found }) => !found.test(script))
    .map(({ what, why }) => problem("bootkube-prerequisite-missing", { what, why }));
  const lines = script.split("\n");
  const offsets: Partial<Record<Anchor, number>> = {};
  for (const name of anchorNames) {
    const anchor = anchors[name];
    const shown = JSON.stringify(anchor.line);
    const found = [...lines.keys()].filter((index) => lines[index] === anchor.line);
    const [index] = found;
    if (index === undefined) {
      problems.push(problem("anchor-missing", { anchor: name, line: shown, release }));
    } else if (found.length > 1) {
      const at = found.map((i) => i + 1).join(", ");
      problems.push(problem("anchor-repeated", { anchor: name, line: shown, lines: at }));
    } else {
      const misplaced = misplacement(name, places[index]);
      if (misplaced !== undefined) {
        const wanted = `a command at nesting depth ${anchor.depth}`;
        problems.push(problem("anchor-nested", { anchor: name, line: index + 1, found: misplaced, wanted }));
      }
      const before = lines.slice(0, anchor.place === "before" ? index : index + 1);
      offsets[name] = before.reduce((sum, line) => sum + line.length + 1, 0);
    }
  }
  for (const [position, second] of anchorNames.entries()) {
    const first = anchorNames[position - 1];
    if (first === undefined) continue;
    const [a, b] = [offsets[first], offsets[second]];
    if (a !== undefined && b !== undefined && a > b) problems.push(problem("anchor-order", { first, second }));
  }
  return problems.length > 0 ? problems : (offsets as AnchorOffsets);
}

/** What is wrong with the place of an anchor's line, if anything. */
function misplacement(name: Anchor, place: LinePlace | undefined): string | undefined {
  if (place === undefined || place.text) return "inside quoted text";
  // Lines inserted before it would become part of the command, or depend on it.
  if (anchors[name].place === "before" && place.continued) return "a continuation of the command before it";
  return place.depth === anchors[name].depth ? undefined : `at nesting depth ${place.depth}`;
}

/** The script with the insertions at their anchors, and nothing else changed. */
export function insertAtAnchors(script: string, offsets: AnchorOffsets, insertions: Insertions): string {
  let result = "";
  let from = 0;
  for (const name of anchorNames) {
    result += script.slice(from, offsets[name]) + insertions[name];
    from = offsets[name];
  }
  return result + script.slice(from);
}
