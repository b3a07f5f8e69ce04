import { type PointerProps, pointerTo } from "../../src/core/ignition/pointer.ts";
import { withDigest } from "../../src/core/ignition/serialize.ts";

export const { sha512 } = withDigest("a payload");

export type PointerOptions = Omit<PointerProps, "sha512">;

/** A pointer to some payload. */
export const pointer = (options: PointerOptions) => pointerTo({ sha512, ...options });

/** One of every scheme. */
export const urls = {
  https: "https://store.example.com/cluster/payload.ign",
  http: "http://store.example.com/cluster/payload.ign",
  s3: "s3://bucket/cluster/payload.ign",
  gs: "gs://bucket/cluster/payload.ign",
};
