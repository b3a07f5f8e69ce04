import { afterAll, describe, expect, it } from "vitest";
import { ensureOldProxyImage } from "../../lab/images.js";
import { labWith, removeLab, type TestLabProps } from "../support/lab.ts";

const name = `options${process.pid}`;
afterAll(() => removeLab(name));

/** An image of an older proxy for server and agents. */
const proxy = (version: string) => ({
  image: {
    server: `localhost/lab/apiserver-network-proxy:${version}`,
    binaryDirectory: "/usr/bin",
  },
});

const cases: Record<string, Omit<TestLabProps, "name">> = {
  "http-connect over the socket": { tunnel: { protocol: "http-connect" } },
  "http-connect over tcp with client certificates": { tunnel: { protocol: "http-connect", transport: "tcp" } },
  "service-account tokens": { tunnel: { authentication: "service-account-token" } },
  "no authentication, said twice": { tunnel: { authentication: "none", acceptUnauthenticatedAgents: true } },
  "a Deployment of two": { tunnel: { agents: { kind: "Deployment", replicas: 2 } } },
  "agents on the host network": { tunnel: { agents: { hostNetwork: true } } },
  "RSA keys": { tunnel: { certificates: { keyAlgorithm: "rsa-2048" } } },
  "a document of 4.12 with a proxy of that time": {
    shape: "4.12",
    images: [ensureOldProxyImage("proxy-0.0.37")],
    tunnel: proxy("0.0.37"),
  },
  "a document of 4.14 with a proxy of that time": {
    shape: "4.14",
    images: [ensureOldProxyImage("proxy-0.1.2")],
    tunnel: proxy("0.1.2"),
  },
  "a document of 4.18 with a proxy of that time": {
    shape: "4.18",
    images: [ensureOldProxyImage("proxy-0.29.0")],
    tunnel: proxy("0.29.0"),
  },
  "a document of 4.18 with http-connect and tokens": {
    shape: "4.18",
    images: [ensureOldProxyImage("proxy-0.29.0")],
    tunnel: { ...proxy("0.29.0"), protocol: "http-connect", authentication: "service-account-token" },
  },
};

describe("a webhook answers through the tunnel", () => {
  it.each(Object.entries(cases))(
    "with %s",
    async (_, props) => {
      const lab = await labWith({ name, ...props });
      expect(lab.createConfigMap(lab.bootstrap, "one", { tunnelled: "true" })).toMatchObject({ code: 201 });
      expect(lab.createConfigMap(lab.bootstrap, "two", { tunnelled: "true", deny: "true" })).toMatchObject({
        code: 403,
      });
    },
    120_000,
  );
});
