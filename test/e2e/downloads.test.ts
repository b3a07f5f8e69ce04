import { execFileSync, spawn } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { downloadGoPrograms, isDownloadable } from "../../lab/downloads.js";
import { ensureGoProgram, mustBeBuilt } from "../../lab/go-programs.js";
import type { OfficialArchive, OfficialBinaries, OfficialImages } from "../../lab/official-binaries.js";
import { projectFile } from "../../src/runtime/project-files.js";
import {
  type Answer,
  archiveOf,
  digestOf,
  proxyTo,
  registryOf,
  serve,
  type TestServer,
} from "../support/download-server.ts";
import { interruptedAt } from "../support/interrupted.ts";

// Small programs instead of the official ones, which cannot be had here: only their checksums differ.
const architecture = process.arch === "arm64" ? "arm64" : "amd64";
const archivePath = "/example.com/releases/kubernetes.tar.gz";
const repositoryPath = "/registry.example.com/v2/proxy";
const kubernetesTitle = "kube-apiserver 1.36.0 and etcd 3.6.8";
const proxyTitle = "proxy-server and proxy-agent 0.36.0";

/** What the server has, by path. */
let files: Map<string, Buffer>;
let kubernetes: OfficialArchive;
let proxy: OfficialImages;

let folder: string;
let servers: TestServer[];
let said: string[];

beforeAll(async () => {
  const archive = await archiveOf({
    "envtest/kubectl": "not wanted",
    "envtest/kube-apiserver": "#!/bin/sh\necho kube-apiserver\n",
    // Several chunks of a transfer.
    "envtest/etcd": `etcd ${"x".repeat(1_000_000)}`,
  });
  files = new Map([[archivePath, archive]]);
  const digest = digestOf(archive, "sha512");
  kubernetes = {
    address: () => `https:/${archivePath}`,
    digests: { amd64: digest, arm64: digest },
    binaries: { "kube-apiserver": "envtest/kube-apiserver", etcd: "envtest/etcd" },
  };
  const base = await archiveOf({ "etc/passwd": "root" });
  const images: [string, OfficialImages["images"][string]][] = [];
  for (const binary of ["proxy-server", "proxy-agent"]) {
    const image = registryOf(
      [base, await archiveOf({ [binary]: binary }), await archiveOf({ "etc/": "" })],
      architecture,
    );
    const repository = `${repositoryPath}/${binary}`;
    for (const [path, content] of image.files) files.set(`${repository}${path}`, content);
    images.push([binary, { repository: `https:/${repository}`, digest: image.digest }]);
  }
  proxy = { images: Object.fromEntries(images) };
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "konnectivity-bootstrap-downloads-"));
  servers = [];
  said = [];
  vi.spyOn(console, "error").mockImplementation((line: string) => void said.push(line));
  vi.stubEnv("XDG_CACHE_HOME", folder);
  vi.stubEnv("KONNECTIVITY_COMPONENTS", "");
  // curl prefers the names in lower case.
  for (const name of ["http_proxy", "https_proxy", "all_proxy", "no_proxy"])
    for (const spelling of [name, name.toUpperCase()]) vi.stubEnv(spelling, undefined);
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await Promise.all(servers.map((server) => server.close()));
  rmSync(folder, { recursive: true });
});

const send: Answer = (response, path) => {
  const content = files.get(path);
  response.writeHead(content === undefined ? 404 : 200).end(content);
};

/** A mirror that answers so. */
async function mirror(answer: Answer): Promise<TestServer> {
  const server = await serve(answer);
  servers.push(server);
  vi.stubEnv("KONNECTIVITY_DOWNLOAD_MIRROR", `http://127.0.0.1:${server.port}`);
  return server;
}

const download = (official: OfficialBinaries = { kubernetes, "proxy-0.36.0": proxy }) =>
  downloadGoPrograms(["kubernetes", "proxy-0.36.0", "webhook"], official);

/** What is in the cache, by folder without its digest. */
const inCache = () => {
  const cache = join(folder, "konnectivity-bootstrap");
  const names = existsSync(cache) ? readdirSync(cache).sort() : [];
  return Object.fromEntries(names.map((name) => [name.replace(/-[0-9a-f]{16}$/, ""), readdirSync(join(cache, name))]));
};

const cannot = (reason: string | RegExp) =>
  expect.stringMatching(
    new RegExp(
      `^Cannot download \\(${typeof reason === "string" ? reason : reason.source}\\): building from source\\.$`,
    ),
  ) as string;

describe("what is published", () => {
  it("is downloaded into the cache, and used as if it were built", async () => {
    const server = await mirror(send);
    await download();
    expect(said).toEqual([
      `Downloading ${kubernetesTitle}; ${proxyTitle} …`,
      expect.stringMatching(new RegExp(`^Downloaded ${kubernetesTitle}; ${proxyTitle}: \\d+\\.\\d MB in \\d+ s\\.$`)),
    ]);
    expect(inCache()).toEqual({
      kubernetes: ["etcd", "kube-apiserver"],
      "proxy-0.36.0": ["proxy-agent", "proxy-server"],
    });
    expect(execFileSync(ensureGoProgram("kubernetes")["kube-apiserver"], { encoding: "utf8" })).toBe(
      "kube-apiserver\n",
    );
    expect(readFileSync(ensureGoProgram("kubernetes").etcd)).toHaveLength(1_000_005);
    for (const [binary, path] of Object.entries(ensureGoProgram("proxy-0.36.0"))) {
      expect(readFileSync(path, "utf8")).toBe(binary);
      accessSync(path, constants.X_OK);
    }
    // An image's base is not needed, nor that of another architecture.
    const perImage = ["index", "manifest", "empty layer", "layer"].length;
    expect(server.requests).toHaveLength(1 + 2 * perImage);
  });

  it("is not downloaded again, and not if the user has it", async () => {
    await mirror(send);
    await download();
    said = [];
    const again = await mirror(send);
    await download();
    vi.stubEnv("XDG_CACHE_HOME", join(folder, "other"));
    vi.stubEnv("KONNECTIVITY_COMPONENTS", folder);
    await download();
    expect(again.requests).toEqual([]);
    expect(said).toEqual([]);
  });

  it("can be downloaded by two at once", async () => {
    await mirror(send);
    await Promise.all([download(), download()]);
    expect(said.filter((line) => line.startsWith("Cannot"))).toEqual([]);
    expect(Object.keys(inCache())).toEqual(["kubernetes", "proxy-0.36.0"]);
  });
});

describe("a file with another checksum", () => {
  /** The server's answer with the last byte changed, for paths that match. */
  const mutated =
    (which: RegExp): Answer =>
    (response, path) => {
      const content = Buffer.from(files.get(path) ?? "");
      if (which.test(path)) content.writeUInt8(content.readUInt8(content.length - 1) ^ 1, content.length - 1);
      response.end(content);
    };

  it("is not used, and both checksums are reported", async () => {
    const { port } = await mirror(mutated(/kubernetes/));
    await download({ kubernetes });
    const found = /sha512:[0-9a-f]{128}/.exec(said[1] ?? "")?.[0] ?? "";
    expect(found).not.toBe(kubernetes.digests.amd64);
    expect(said.slice(1)).toEqual([
      `http://127.0.0.1:${port}${archivePath} has checksum ${found} instead of ${kubernetes.digests.amd64}, so it is not used.`,
      cannot(/127\.0\.0\.1:\d+: wrong checksum/),
    ]);
    expect(inCache()).toEqual({});
    expect(mustBeBuilt("kubernetes")).toBe(true);
  });

  it.each(["manifests", "blobs"])("is noticed among an image's %s, and the rest is used", async (kind) => {
    await mirror(mutated(new RegExp(`proxy-agent/${kind}`)));
    await download();
    expect(said.at(-2)).toMatch(
      new RegExp(`proxy-agent/${kind}/sha256:\\w+ has checksum sha256:\\w+ instead of sha256:`),
    );
    expect(said.at(-1)).toEqual(cannot(/127\.0\.0\.1:\d+: wrong checksum/));
    expect(Object.keys(inCache())).toEqual(["kubernetes"]);
  });
});

describe("a download that is cut off", () => {
  /** Sends half of the archive and closes the connection, so many times. */
  const cutOff = (times: number): Answer => {
    let left = times;
    return (response, path) => {
      const content = files.get(path) ?? Buffer.alloc(0);
      if (left-- <= 0) response.end(content);
      else
        response
          .writeHead(200, { "Content-Length": content.length })
          .write(content.subarray(0, content.length / 2), () => {
            response.destroy();
          });
    };
  };

  it("is tried once more", async () => {
    await mirror(cutOff(1));
    await download({ kubernetes });
    expect(said[1]).toMatch(
      /^A download was interrupted \(127\.0\.0\.1:\d+: transfer closed .*\): trying once more\.$/,
    );
    expect(Object.keys(inCache())).toEqual(["kubernetes"]);
  });

  it("twice is left to be built", async () => {
    const server = await mirror(cutOff(2));
    await download({ kubernetes });
    expect(server.requests).toHaveLength(2);
    expect(said.at(-1)).toEqual(cannot(/127\.0\.0\.1:\d+: transfer closed .*/));
    expect(inCache()).toEqual({});
  });

  it("by Ctrl-C leaves nothing behind", async () => {
    const server = await mirror((response) => {
      response.writeHead(200, { "Content-Length": 1000 }).write("x".repeat(500));
    });
    const digest = `sha512:${"0".repeat(128)}`;
    const program = `
      import { downloadGoPrograms } from "${projectFile("lab/downloads.js")}";
      await downloadGoPrograms(["kubernetes"], { kubernetes: {
        address: () => "https:/${archivePath}", digests: { amd64: "${digest}", arm64: "${digest}" }, binaries: {},
      } });
      console.error("went on");`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program]);
    const signal = new Promise((resolve) =>
      child.once("exit", (_, by) => {
        resolve(by);
      }),
    );
    const { said: words } = await interruptedAt(child, "Downloading", () => {
      expect(Object.keys(inCache())[0]).toMatch(/^kubernetes\.\d+\.\w{6}$/);
      child.kill("SIGINT");
    });
    expect(words).toBe(`Downloading ${kubernetesTitle} …\n`);
    expect(await signal).toBe("SIGINT");
    expect(inCache()).toEqual({});
    expect(server.requests).toHaveLength(1);
  });
});

describe("without the internet", () => {
  it("a server that never answers is given up after three seconds, in one line", async () => {
    await mirror(() => undefined);
    const start = Date.now();
    await download();
    const seconds = (Date.now() - start) / 1000;
    expect(said).toEqual([cannot(/127\.0\.0\.1:\d+: no answer within 3 seconds/)]);
    expect(seconds).toBeGreaterThan(2.9);
    // A busy machine starts curl and ends it late.
    expect(seconds).toBeLessThan(6);
    expect(inCache()).toEqual({});
  });

  it("one that is not there is given up at once", async () => {
    const server = await mirror(send);
    await server.close();
    await download();
    expect(said).toEqual([cannot(/127\.0\.0\.1:\d+: Failed to connect to 127\.0\.0\.1 port .*/)]);
  });

  it("one that does not have the file is given up at once", async () => {
    const server = await mirror((response) => response.writeHead(404).end("<html>"));
    await download({ kubernetes });
    expect(server.requests).toHaveLength(1);
    expect(said).toEqual([cannot(/127\.0\.0\.1:\d+: The requested URL returned error: 404.*/)]);
  });

  it("and without curl, programs are left to be built", async () => {
    await mirror(send);
    vi.stubEnv("PATH", folder);
    await download();
    expect(said).toEqual([cannot("curl is not installed")]);
  });
});

describe("what is not as expected", () => {
  it("an archive without a binary is not used", async () => {
    await mirror(send);
    await download({ kubernetes: { ...kubernetes, binaries: { etcd: "envtest/etcd-4" } } });
    expect(said.at(-1)).toEqual(cannot(`https:/${archivePath} contains no envtest/etcd-4`));
    expect(inCache()).toEqual({});
  });

  it("an image without the binary is not used", async () => {
    await mirror(send);
    const [image] = Object.values(proxy.images);
    if (image === undefined) throw new Error("no image");
    await download({ "proxy-0.36.0": { images: { "proxy-client": image } } });
    expect(said.at(-1)).toEqual(cannot(/https:\S+@sha256:\w+ contains no \/proxy-client/));
    expect(inCache()).toEqual({});
  });
});

describe("KONNECTIVITY_DOWNLOAD_MIRROR", () => {
  it("has each file below its host's name", async () => {
    const server = await mirror((response, path) => {
      send(response, path.replace("/some/folder", ""));
    });
    vi.stubEnv("KONNECTIVITY_DOWNLOAD_MIRROR", `http://user:secret@127.0.0.1:${server.port}/some/folder/`);
    await download();
    expect(Object.keys(inCache())).toEqual(["kubernetes", "proxy-0.36.0"]);
    expect(server.requests).toContain("/some/folder/example.com/releases/kubernetes.tar.gz");
    const { digest } = proxy.images["proxy-agent"] ?? {};
    expect(server.requests).toContain(
      `/some/folder/registry.example.com/v2/proxy/proxy-agent/manifests/${digest ?? ""}`,
    );
    await server.close();
    rmSync(join(folder, "konnectivity-bootstrap"), { recursive: true });
    await download();
    expect(said.join()).not.toContain("secret");
  });

  it("switches downloads off", async () => {
    const server = await mirror(send);
    expect(isDownloadable("kubernetes")).toBe(true);
    vi.stubEnv("KONNECTIVITY_DOWNLOAD_MIRROR", "off");
    expect(isDownloadable("kubernetes")).toBe(false);
    await download();
    expect(server.requests).toEqual([]);
    expect(said).toEqual([]);
  });

  it.each(["mirror.example.com", "ftp://mirror.example.com", "no"])("refuses %s in one sentence", async (value) => {
    vi.stubEnv("KONNECTIVITY_DOWNLOAD_MIRROR", value);
    await expect(download()).rejects.toThrow(
      'KONNECTIVITY_DOWNLOAD_MIRROR is neither "off" nor a URL with http or https: correct it, or unset it.',
    );
  });
});

describe("a proxy", () => {
  /** A server for https://example.com and https://registry.example.com, and a proxy that leads to it. */
  async function behindProxy() {
    const [key, cert] = [join(folder, "tls.key"), join(folder, "tls.crt")];
    const make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=example.com -days 1".split(
      " ",
    );
    const names = ["-addext", "subjectAltName=DNS:example.com,DNS:registry.example.com"];
    execFileSync("openssl", [...make, ...names, "-keyout", key, "-out", cert], { stdio: "pipe" });
    const server = await serve(
      (response, path) => {
        const host = String(response.req.headers.host);
        send(response, `/${host}${path}`);
      },
      { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") },
    );
    const way = await proxyTo(server.port);
    servers.push(server, way);
    vi.stubEnv("KONNECTIVITY_DOWNLOAD_MIRROR", "");
    vi.stubEnv("CURL_CA_BUNDLE", cert);
    vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${way.port}`);
    return way;
  }

  it("in HTTPS_PROXY is used", async () => {
    const way = await behindProxy();
    await download();
    expect(Object.keys(inCache())).toEqual(["kubernetes", "proxy-0.36.0"]);
    expect(new Set(way.requests)).toEqual(new Set(["example.com:443", "registry.example.com:443"]));
  });

  it("is not used for a host in NO_PROXY", async () => {
    const way = await behindProxy();
    vi.stubEnv("KONNECTIVITY_DOWNLOAD_MIRROR", "https://127.0.0.1:1");
    await download({ kubernetes });
    expect(way.requests).toEqual(["127.0.0.1:1"]);
    vi.stubEnv("NO_PROXY", "127.0.0.1");
    await download({ kubernetes });
    expect(way.requests).toEqual(["127.0.0.1:1"]);
    expect(said.at(-1)).toEqual(cannot(/127\.0\.0\.1:1: Failed to connect .*/));
  });

  it("without TLS behind it is refused: only a mirror may be without", async () => {
    await behindProxy();
    await download({ kubernetes: { ...kubernetes, address: () => "http://example.com/releases/kubernetes.tar.gz" } });
    expect(said).toEqual([cannot(/example\.com: .*[Pp]rotocol.*/)]);
  });
});

describe("the user's settings of curl", () => {
  it("do not count", async () => {
    await mirror(send);
    writeFileSync(join(folder, ".curlrc"), "proxy = http://127.0.0.1:1\n");
    vi.stubEnv("HOME", folder);
    vi.stubEnv("CURL_HOME", folder);
    await download({ kubernetes });
    expect(Object.keys(inCache())).toEqual(["kubernetes"]);
  });
});
