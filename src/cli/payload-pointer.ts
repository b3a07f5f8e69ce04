import { existsSync } from "node:fs";
import { pointerTo } from "../core/ignition/pointer.ts";
import { serializeIgnition } from "../core/ignition/serialize.ts";
import { UserError, problem, type Warning } from "../core/errors.ts";
import { readUserFile } from "../files/user-file.ts";

/** Options of `payload build` that are about the pointer. */
export interface PointerOptions {
  readonly url?: string;
  readonly caBundle?: string;
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  readonly proxyExcept?: string[];
  readonly timeout?: number;
}

/** Builds the pointer to a payload. @returns undefined without --url */
export function buildPointer(options: PointerOptions, sha512: string) {
  const { url, caBundle, httpProxy, httpsProxy, proxyExcept, timeout } = options;
  if (url === undefined) {
    const needUrl = {
      "--ca-bundle": caBundle,
      "--http-proxy": httpProxy,
      "--https-proxy": httpsProxy,
      "--proxy-except": proxyExcept,
      "--timeout": timeout,
    };
    const given = Object.entries(needUrl).filter(([, value]) => value !== undefined);
    if (given.length > 0)
      throw new UserError(...given.map(([flag]) => problem("pointer-option-without-url", { flag })));
    return undefined;
  }
  const { config, warnings } = pointerTo({
    url,
    sha512,
    caBundle: caBundle === undefined ? undefined : readUserFile(caBundle, "check --ca-bundle"),
    proxy:
      httpProxy === undefined && httpsProxy === undefined && proxyExcept === undefined
        ? undefined
        : { http: httpProxy, https: httpsProxy, none: proxyExcept },
    totalTimeoutSeconds: timeout,
  });
  return { ...serializeIgnition(config), warnings };
}

/** An older pointer beside a newer payload: a machine with it would refuse to boot. */
export function stalePointerWarnings(file: string, pointer: object | undefined, sha512: string): Warning[] {
  if (pointer !== undefined || !existsSync(file) || namesPayload(file, sha512)) return [];
  return [
    {
      code: "pointer-stale",
      message: `${file} is from an earlier build and names another payload: build again with --url, or delete it.`,
    },
  ];
}

/** A pointer that cannot be read counts as one that names another payload. */
function namesPayload(pointerFile: string, sha512: string): boolean {
  try {
    return readUserFile(pointerFile, "").includes(sha512);
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
