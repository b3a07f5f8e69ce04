import { afterAll, afterEach, describe, expect, it } from "vitest";
import { currentProxy, type OldProxyName, oldProxies } from "../../../lab/go-programs.js";
import { ensureOldProxyImage } from "../../../lab/images.js";
import { LabView } from "../../../lab/lab-view.ts";
import { ipFamilies } from "../../../src/core/sample/networks.ts";
import type { Shape } from "../../../src/core/sample/sample.ts";
import { labWith, removeLab, type TestLabProps } from "../../support/lab.ts";

/**
 * The image decides, not the release: a bootstrap.ign of every class with every proxy, of which several are older or newer
 * than the class says. The two classes differ in what is assumed; the third lacks nothing.
 */
const shapes: readonly Shape[] = ["4.12", "4.18", "4.23"];

const name = `proxies${process.pid}`;
afterEach(() => removeLab(name));
afterAll(() => removeLab(name));

type Proxy = OldProxyName | typeof currentProxy;

const imageOf = (proxy: Proxy): Partial<TestLabProps> => {
  if (proxy === currentProxy) return {};
  const tag = proxy.replace("proxy-", "");
  return {
    images: [ensureOldProxyImage(proxy)],
    tunnel: { image: { server: `localhost/lab/apiserver-network-proxy:${tag}`, binaryDirectory: "/usr/bin" } },
  };
};

describe.each<Proxy>([...oldProxies, currentProxy])("%s", (proxy) => {
  it.each(shapes.flatMap((shape) => ipFamilies.map((ipFamily) => [shape, ipFamily] as const)))(
    "carries a call in a bootstrap.ign of %s on %s",
    async (shape, ipFamily) => {
      const lab = await labWith({ name, shape, ipFamily, ...imageOf(proxy) });
      expect(lab.createConfigMap(lab.bootstrap, "one", { tunnelled: "true" })).toMatchObject({ code: 201 });
      expect(lab.createConfigMap(lab.bootstrap, "two", { tunnelled: "true", deny: "true" })).toMatchObject({
        code: 403,
      });
      // Every proxy here knows the flag, also where 4.12's own code does not.
      const { bootstrap } = lab.addresses;
      expect(new LabView(lab).server()?.flags.get("agent-bind-address")).toBe(bootstrap);
    },
    90_000,
  );
});
