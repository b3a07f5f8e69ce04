import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

/** Loading a provider's root costs seconds and a gigabyte per synth; one module of it costs milliseconds. */
const providerRoots = {
  regex: "^@cdktf/provider-[a-z]+(/lib)?(/index\\.js)?$",
  message: "Import one resource (@cdktf/provider-<name>/lib/<resource>/index.js), never the whole provider.",
};

/** Dependencies point one way: main → stacks → constructs/<platform> → src/core/ignition, src/core/konnectivity. */
const upwards = {
  regex: "(^|/)(stacks/(?!inputs)|cli/)|(^|/)main\\.ts$",
  message: "Dependencies point one way: main → stacks → constructs (docs/architecture.md).",
};

/** @param {string} platform */
const otherPlatforms = (platform) => ({
  regex: `(^|/)(${["aws", "azure", "google", "local"].filter((other) => other !== platform).join("|")})(/|\\.ts$)`,
  message: "Platforms never import each other.",
});

/** @param {object[]} patterns */
const imports = (...patterns) =>
  /** @type {const} */ ({
    "no-restricted-imports": ["error", { patterns: [providerRoots, ...patterns] }],
  });

export default defineConfig(
  { ignores: ["cdktf.out", "node_modules", "test/fixtures"] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      ...imports(),
      "@typescript-eslint/consistent-type-definitions": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    },
  },
  { files: ["constructs/**", "src/core/**", "src/config/**", "src/files/**"], rules: imports(upwards) },
  ...["aws", "azure", "google", "local"].flatMap((platform) => [
    {
      files: [`constructs/${platform}/**`],
      rules: imports(upwards, otherPlatforms(platform)),
    },
    { files: [`stacks/${platform}.ts`], rules: imports(otherPlatforms(platform)) },
  ]),
  {
    files: ["src/core/ignition/**"],
    rules: imports(upwards, {
      regex: "konnectivity/|^@?cdktf|^constructs$|^node:fs",
      message: "The payload is pure: it knows no tunnel, no cdktf and no file system.",
    }),
  },
  {
    files: ["src/core/konnectivity/**"],
    rules: imports(upwards, {
      regex: "ignition/|^@?cdktf|^constructs$",
      message: "The tunnel knows no Ignition and no cdktf.",
    }),
  },
  {
    files: ["**/*.js"],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: { process: "readonly", console: "readonly", URL: "readonly" } },
  },
);
