import { configFormat, type PlatformInputs } from "../../stacks/platforms.ts";

/** A platform that a real cluster can be on. */
export type CloudName = Exclude<keyof PlatformInputs, "local">;

export const clouds = configFormat.clouds.map(({ name }) => name as CloudName);
