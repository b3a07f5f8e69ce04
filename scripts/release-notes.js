// `node scripts/release-notes.js v0.2.0`: prints that version's section of CHANGELOG.md. Fails if the tag is not the version
// in package.json, or if CHANGELOG.md does not describe it. Plain JavaScript: the release runs it before npm packages are
// installed.
import { readProjectText } from "../src/runtime/project-files.js";

/** @param {string} sentence */
function stop(sentence) {
  console.error(`error: ${sentence}`);
  process.exit(1);
}

const [tag = ""] = process.argv.slice(2);
const { version } = JSON.parse(readProjectText("package.json"));
if (tag !== `v${version}`)
  stop(`The tag is "${tag}", but package.json has version ${version}: use the tag v${version}.`);

// A heading is "## 0.2.0", with a date behind it or not.
const sections = readProjectText("CHANGELOG.md").split(/^## /m);
const section = sections.find((text) => /^\S*/.exec(text)?.[0] === version);
const notes = section?.slice(section.indexOf("\n")).trim();
if (!notes) stop(`CHANGELOG.md has no section "## ${version}": add one.`);
if (/^\S+.*unreleased/i.test(section ?? ""))
  stop(`CHANGELOG.md says that ${version} is unreleased: replace that with the date.`);
console.log(notes);
