/**
 * `npm run docs:render`: renders every picture in docs in a real browser, offline, and says which ones fail. Look at the
 * results: a picture can be valid and still be wrong.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cached } from "../lab/go-programs.js";
import { npmCi } from "../src/runtime/packages.js";
import { projectFile, readProjectText } from "../src/runtime/project-files.js";

const browser = "chromium-headless-shell";
const out = process.argv[2] ?? join(tmpdir(), "konnectivity-bootstrap-pictures");

interface Picture {
  /** Name of the file that shows it, without its ending. */
  readonly name: string;
  /** The page's body. */
  readonly html: string;
}

/** Mermaid itself, as the lock file in scripts/render names it. */
function mermaidScript(): string {
  const source = projectFile("scripts/render");
  const files = ["package.json", "package-lock.json"];
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(join(source, file)));
  const folder = cached(`render-${hash.digest("hex").slice(0, 16)}`, (unfinished: string) => {
    console.error("Installing Mermaid (once, half a minute, 80 MB) …");
    for (const file of files) copyFileSync(join(source, file), join(unfinished, file));
    npmCi(unfinished, "--ignore-scripts");
  });
  return join(folder, "node_modules/mermaid/dist/mermaid.min.js");
}

function pictures(): Picture[] {
  const docs = readdirSync(projectFile("docs"));
  const pages = ["README.md", ...docs.filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];
  const diagrams = pages.flatMap((page) =>
    [...readProjectText(page).matchAll(/^```mermaid\n(.*?)^```$/gms)].map(([, text = ""], index) => ({
      name: `${page.replace(/^docs\//, "").replace(/\.md$/, "")}-${String(index + 1)}`,
      html: `<pre class="mermaid">${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</pre>`,
    })),
  );
  const images = docs
    .filter((name) => name.endsWith(".svg"))
    .map((name) => ({ name, html: `<img width="960" src="${pathToFileURL(projectFile(`docs/${name}`)).href}">` }));
  return [...diagrams, ...images];
}

/** Puts the verdict and the size into the page's title, where --dump-dom shows them. */
const page = (script: string, { html }: Picture) => `<!doctype html><meta charset="utf-8"><title>waiting</title>
<body style="margin: 16px; background: white; display: inline-block">${html}
<script src="${pathToFileURL(script).href}"></script>
<script>
  const finish = () => {
    const { width, height } = document.body.getBoundingClientRect();
    const empty = [...document.images].some((image) => image.naturalWidth === 0);
    document.title = empty ? "failed: the image is empty" : "rendered " + Math.ceil(width + 32) + "," + Math.ceil(height + 32);
  };
  mermaid.initialize({ startOnLoad: false, flowchart: { useMaxWidth: false }, sequence: { useMaxWidth: false } });
  mermaid.run({ querySelector: ".mermaid" }).then(() => requestAnimationFrame(finish))
    .catch((error) => { document.title = "failed: " + (error.message ?? error.str ?? error); });
</script>`;

function browse(file: string, ...options: string[]): string {
  const profile = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-browser-"));
  const fixed = ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=20000"];
  const offline = ["--disable-background-networking", "--disable-component-update", "--no-first-run"];
  try {
    const args = [...fixed, ...offline, `--user-data-dir=${profile}`, ...options, pathToFileURL(file).href];
    const { error, status, stdout, stderr } = spawnSync(browser, args, { encoding: "utf8", timeout: 60_000 });
    if (error !== undefined || status !== 0)
      throw new Error(`${browser} failed: ${error?.message ?? stderr.trim().split("\n").at(-1) ?? ""}`);
    return stdout;
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}

/** @returns what is wrong; undefined if it was rendered */
function render(script: string, picture: Picture): string | undefined {
  const file = join(out, `${picture.name}.html`);
  writeFileSync(file, page(script, picture));
  const title = /<title>(.*?)<\/title>/s.exec(browse(file, "--dump-dom"))?.[1] ?? "";
  const [, size] = /^rendered (\d+,\d+)$/.exec(title) ?? [];
  if (size === undefined) return title;
  browse(file, `--window-size=${size}`, `--screenshot=${join(out, `${picture.name}.png`)}`);
  return undefined;
}

mkdirSync(out, { recursive: true });
const script = mermaidScript();
let failures = 0;
for (const picture of pictures()) {
  const failure = render(script, picture);
  if (failure !== undefined) failures += 1;
  console.log(
    `${failure === undefined ? "rendered" : "FAILED  "}  ${picture.name}${failure === undefined ? "" : `: ${failure}`}`,
  );
}
console.log(`\nLook at the pictures in ${out}.`);
if (failures > 0) process.exitCode = 1;
