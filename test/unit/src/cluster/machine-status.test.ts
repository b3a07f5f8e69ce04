import { describe, expect, it } from "vitest";
import { parseProbe } from "../../../../src/cluster/machine-status.ts";

describe("the status of a machine", () => {
  it("reports the proxy of an agent, unless NO_PROXY lists the server", () => {
    const proxyWith = (proxies: string) =>
      parseProbe(
        new Map([
          ["agent-1.container", "running x"],
          ["agent-1.arguments", "--proxy-server-host=10.0.0.10\n--proxy-server-port=8091"],
          ["agent-1.proxies", proxies],
        ]),
      ).agents[0]?.proxy;
    expect(proxyWith("")).toBeUndefined();
    expect(proxyWith("HTTPS_PROXY=http://p:3128")).toBe("http://p:3128");
    expect(proxyWith("https_proxy=http://p:3128\nNO_PROXY=.svc,10.0.0.10")).toBeUndefined();
  });

  it("reports the port for agents", () => {
    const portOf = (text: string) =>
      parseProbe(
        new Map([
          ["tunnel", "ours"],
          ["agent-port", text],
        ]),
      ).server?.port;
    expect(portOf("9591")).toBe(9591);
    // Of a machine that does not say it, or something else.
    for (const text of ["", "jq: error", "123456"]) expect(portOf(text)).toBe(8091);
  });

  it("reports a tunnel that is switched off", () => {
    const switchedOff = (selector: string) =>
      parseProbe(
        new Map([
          ["tunnel", "ours"],
          ["egress-selector", selector],
        ]),
      ).server?.switchedOff;
    const direct = "- {name: cluster, connection: {proxyProtocol: Direct}}\n";
    expect(switchedOff(direct)).toBe(true);
    for (const selector of ["", "proxyProtocol: 'GRPC'", `proxyProtocol: HTTPConnect\n${direct}`])
      expect(switchedOff(selector)).toBeUndefined();
  });

  it("reports why a machine goes on without its tunnel, and which CA its server has", () => {
    const server = (sections: Record<string, string>) =>
      parseProbe(new Map(Object.entries({ tunnel: "ours", ...sections }))).server;
    expect(server({})).not.toHaveProperty("givenUp");
    expect(server({})).not.toHaveProperty("pki");
    expect(server({ "given-up": "the tunnel could not be set up\n" })?.givenUp).toBe("the tunnel could not be set up");
    expect(server({ "server-pod": "    konnectivity-bootstrap/pki: '0123456789abcdef'\n" })?.pki).toBe(
      "0123456789abcdef",
    );
  });

  it("reports the stage of the tunnel in which bootkube.sh fails", () => {
    const failedIn = (...stages: readonly (object | string)[]) =>
      parseProbe(
        new Map([
          ["tunnel", "ours"],
          ["stages", stages.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n")],
        ]),
      ).server?.failedStage;
    const failure = { phase: "stage end", stage: "konnectivity-certs", result: "failure" };
    expect(failedIn(failure, { phase: "service end", result: "failure" })).toBe("konnectivity-certs");
    expect(failedIn(failure, { ...failure, result: "success" })).toBeUndefined();
    expect(failedIn({ ...failure, stage: "cb-bootstrap" })).toBeUndefined();
    // A file that was cut off, or that somebody else wrote.
    expect(failedIn(failure, "{bad", "null", "[]", '"text"')).toBe("konnectivity-certs");
    expect(failedIn({ ...failure, stage: 5 })).toBeUndefined();
  });
});
