import { expect, it } from "vitest";
import { freeAddressIn } from "../../../../constructs/shared/subnet-condition.ts";
import { runTerraform } from "../../../support/terraform.ts";

const five = [0, 1, 2, 3, -1];

/** What Terraform itself makes of the condition; one run for all cases. */
function verdicts(
  cases: readonly (readonly [address: string, networks: readonly string[], reserved: readonly number[]])[],
) {
  const conditions = cases.map(([address, networks, reserved]) =>
    freeAddressIn({
      address,
      networks: JSON.stringify(networks),
      subnet: "s",
      reserved,
      reservedInWords: "",
    }).condition.slice(2, -1),
  );
  const { output } = runTerraform(["console"], { input: `jsonencode([${conditions.join(", ")}])` });
  return JSON.parse(JSON.parse(output) as string) as boolean[];
}

it("Terraform sees which addresses a subnet has for machines", () => {
  const cases = [
    ["10.0.1.5", ["10.0.1.0/24"], five, true],
    ["10.0.1.5", ["10.0.0.0/23"], five, true],
    ["10.0.1.5", ["10.0.2.0/24"], five, false],
    ["10.0.1.5", ["10.0.1.128/25"], five, false],
    ["10.0.1.5", ["10.0.2.0/24", "10.0.1.0/24"], five, true],
    ["10.0.1.0", ["10.0.1.0/24"], five, false],
    ["10.0.1.3", ["10.0.1.0/24"], five, false],
    ["10.0.1.4", ["10.0.1.0/24"], five, true],
    ["10.0.1.254", ["10.0.1.0/24"], five, true],
    ["10.0.1.255", ["10.0.1.0/24"], five, false],
    ["10.0.1.2", ["10.0.1.0/24"], [0, 1, -2, -1], true],
    ["10.0.1.254", ["10.0.1.0/24"], [0, 1, -2, -1], false],
    ["fd00::5", ["fd00::/64"], five, true],
    ["fd00::3", ["fd00::/64"], five, false],
    ["fd00::ffff:ffff:ffff:ffff", ["fd00::/64"], five, false],
    ["fd00:1::5", ["fd00::/64"], five, false],
    ["fd00::5", ["10.0.1.0/24"], five, false],
    ["10.0.1.5", ["fd00::/64"], five, false],
    ["fd00::5", ["10.0.1.0/24", "fd00::/64"], five, true],
    // A subnet of AWS without IPv6.
    ["fd00::5", [""], five, false],
  ] as const;
  const found = verdicts(cases.map(([address, networks, reserved]) => [address, networks, reserved]));
  expect(found).toEqual(cases.map((one) => one[3]));
});
