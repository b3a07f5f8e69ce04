import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** Every function with which the project changes the disk. */
const changing = [
  ...["chmodSync", "fchmodSync", "fsyncSync", "linkSync", "mkdirSync", "openSync", "renameSync", "rmSync"],
  ...["rmdirSync", "unlinkSync", "writeFileSync", "writeSync"],
] as const;

/** Not an error that the code could handle: after it, nothing reaches the disk. */
class Killed extends Error {}

/**
 * Runs something as if the process were killed at a write: before the change number `at` of the disk, counted from 0, or in
 * the middle of it if it is a write. What the code still does afterwards, such as cleaning up, changes nothing.
 * @returns whether it came to that change, and how many changes there were
 */
export function killAtWrite(at: number, act: () => void): { readonly killed: boolean; readonly changes: number } {
  const functions = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
  const real = Object.fromEntries(changing.map((name) => [name, functions[name]])) as typeof functions;
  let changes = 0;
  for (const name of changing)
    functions[name] = (...args) => {
      const call = real[name];
      if (call === undefined) throw new Error(`there is no ${name}`);
      // Reading changes nothing.
      if (name === "openSync" && !/[wax+]/.test(String(args[1]))) return call(...args);
      if (changes > at) throw new Killed();
      if (changes++ < at) return call(...args);
      if (name === "writeSync") {
        const [descriptor, bytes, start = 0] = args as [number, Buffer, number?];
        const half = Buffer.from(bytes).subarray(start);
        call(descriptor, half, 0, Math.floor(half.length / 2));
      }
      throw new Killed();
    };
  syncBuiltinESMExports();
  try {
    act();
  } catch {
    // Whatever the code made of it: a killed process says nothing.
  } finally {
    Object.assign(functions, real);
    syncBuiltinESMExports();
  }
  return { killed: changes > at, changes };
}
