import { isObject } from "../core/ignition/config.ts";
import type { Tunnel } from "../core/konnectivity/options.ts";

/** An option of the tunnel that is not the same in a payload and in the config. */
export interface Difference {
  /** As in the config, like tunnel.port. */
  readonly option: string;
  /** @default - the payload does not have it */
  readonly payload?: unknown;
  /** @default - the config does not have it */
  readonly config?: unknown;
}

/**
 * Compares a payload's recorded options with those that a payload would be built with now.
 * @param tunnels the config's, for each way in which the machine can be created
 * @returns the differences from the tunnel that it resembles most
 */
export function tunnelDifferences(recorded: unknown, tunnels: readonly Tunnel[]): Difference[] {
  const [fewest = []] = tunnels
    .map((tunnel) => differencesFrom(recorded, tunnel))
    .toSorted((a, b) => a.length - b.length);
  return fewest;
}

function differencesFrom(recorded: unknown, tunnel: Tunnel): Difference[] {
  if (typeof tunnel === "string") return [{ option: "tunnel", payload: "on", config: tunnel }];
  const [built, wanted] = [leavesOf(recorded), leavesOf(tunnel)];
  return [...new Set([...wanted.keys(), ...built.keys()])]
    .filter((option) => JSON.stringify(built.get(option)) !== JSON.stringify(wanted.get(option)))
    .map((option) => ({ option, payload: built.get(option), config: wanted.get(option) }));
}

/** Values by their path. A list is one value. */
function leavesOf(value: unknown, path = "tunnel"): Map<string, unknown> {
  if (!isObject(value)) return new Map(value === undefined ? [] : [[path, value]]);
  return new Map(Object.entries(value).flatMap(([key, part]) => [...leavesOf(part, `${path}.${key}`)]));
}
