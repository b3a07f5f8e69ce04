import { Command } from "commander";
import { inLines } from "../core/printable.ts";
import { type ConfigOptions, withConfig } from "./config-option.ts";
import type { Check, Checks } from "./doctor-checks.ts";
import { jsonOption, type Output } from "./output.ts";

/** `doctor`: whether this machine has what a deploy of the configured platforms needs. */
export function doctorCommand(output: Output): Command {
  return withConfig(new Command("doctor"))
    .description("Check that this machine has what the configured platforms need; exit code 1 if not")
    .option(...jsonOption)
    .action(async (options: ConfigOptions & { json?: boolean }) => {
      const { runChecks } = await import("./doctor-checks.ts");
      output.doing("Checking this machine");
      const checks = runChecks(options.config, process.env);
      const ok = checks.needed.every((check) => check.ok);
      if (options.json === true) output.json(toJson(checks));
      else output.text(describe(checks), { ok: "good", missing: "bad", optional: "unclear" });
      if (!ok) output.exitCode = 1;
    });
}

const toJson = ({ platforms, needed, optional }: Checks) => ({
  platforms,
  checks: [
    ...needed.map((check) => ({ ...check, needed: true })),
    ...optional.map((one) => ({ ...one, needed: false })),
  ].map(({ name, needed: isNeeded, ok, found, advice }) => ({
    name,
    needed: isNeeded,
    ok,
    found,
    advice: ok ? null : (advice ?? null),
  })),
});

function describe({ platforms, needed, optional }: Checks): string {
  const failed = needed.filter(({ ok }) => !ok).length;
  const lines = (checks: readonly Check[], otherwise: string) =>
    checks.flatMap(({ name, ok, found, advice }) => [
      `${(ok ? "ok" : otherwise).padEnd(8)}  ${name.padEnd(18)}  ${found}`,
      ...(ok || advice === undefined ? [] : [`${" ".repeat(30)}${advice}`]),
    ]);
  const names = platforms.length === 0 ? "a deploy" : platforms.join(" and ");
  return inLines([
    ...lines(needed, "missing"),
    ...lines(optional, "optional"),
    "",
    failed === 0
      ? `This machine has what ${names} needs.`
      : `This machine lacks what ${names} needs: ${failed} of the above.`,
  ]);
}
