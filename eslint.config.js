import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

// Which folder may import which is in .dependency-cruiser.js.
export default defineConfig(
  { ignores: ["cdktf.out", "node_modules", "test/fixtures"] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: "MetaProperty",
          message:
            "Take paths of the project's files from src/runtime/project-files.js: paths made with import.meta are invisible to the check of import directions.",
        },
        {
          selector: "ImportExpression > :not(Literal).source",
          message: "Name the module: the check of import directions cannot see a computed one.",
        },
      ],
      "@typescript-eslint/consistent-type-definitions": "off",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    },
  },
  { files: ["src/runtime/project-files.js"], rules: { "no-restricted-syntax": "off" } },
  {
    files: ["**/*.js"],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: { process: "readonly", console: "readonly", URL: "readonly", AbortController: "readonly" },
    },
  },
);
