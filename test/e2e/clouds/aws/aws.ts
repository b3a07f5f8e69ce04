import { httpRequest } from "../http-request.ts";
import type { Certificate } from "../certificate.ts";
import type { Cloud, Deployed } from "../cloud.ts";
import { MetadataService } from "../metadata-service.ts";
import { accepted } from "../policy/checkov.ts";
import { metadata } from "../../../support/stacks.ts";
import { Moto, operator } from "./moto.ts";

const { infraID } = metadata;
const { region } = metadata.aws;
const name = `${infraID}-bootstrap`;
const bucket = `${name}-${metadata.clusterID.slice(0, 8)}`;
const decoy = `${infraID}2-bootstrap`;

/** Every host name that is asked for: one for each service, one for each bucket. */
export const awsHosts = [
  ...["ec2", "elasticloadbalancing", "sts", "s3"].map((service) => `${service}.${region}.amazonaws.com`),
  "iam.amazonaws.com",
  `123456789012.s3-control.${region}.amazonaws.com`,
  ...[bucket, decoy].flatMap((one) => [
    `${one}.s3.${region}.amazonaws.com`,
    `${one}.s3.dualstack.${region}.amazonaws.com`,
  ]),
];

export class Aws implements Cloud {
  readonly name = "aws";
  readonly ignitionPlatform = "aws";
  // With a Terraform before 1.12, which does not tell it what the thing was.
  readonly cannotRead = /Missing Resource Identity After Read/;
  readonly accepted = accepted.aws;
  readonly mistake = { right: '"http_tokens":"required"', wrong: '"http_tokens":"perhaps"', said: "http_tokens" };
  readonly otherParts = { bootstrapInstanceType: "m5.2xlarge", rootVolumeSizeGiB: 200 };
  readonly rest = { tunnel: { address: "10.0.1.5" } };
  readonly environment = operator;
  readonly #moto = new Moto();
  #cluster: Record<string, string> = {};

  /** Whose names AWS gave. The role is there at once. */
  get options() {
    return { ...this.#cluster, identityWaitSeconds: 0 };
  }

  get expected() {
    const { masterSecurityGroupId, workerSecurityGroupId, ...rest } = this.#cluster;
    return {
      sources: [masterSecurityGroupId ?? "", workerSecurityGroupId ?? ""],
      destination: new RegExp(`^${name}$`),
      memberOf: Object.entries(rest).flatMap(([option, value]) => (option.endsWith("TargetGroupArn") ? [value] : [])),
      clusterTag: { [`kubernetes.io/cluster/${infraID}`]: "owned" },
      pointer: { source: `s3://${bucket}/payload.ign` },
      store: {
        public: { BlockPublicAcls: true, IgnorePublicAcls: true, BlockPublicPolicy: true, RestrictPublicBuckets: true },
        owner: "BucketOwnerEnforced",
        encryption: "AES256",
      },
    };
  }

  async start(certificate: Certificate): Promise<void> {
    await this.#moto.listen({ address: "127.0.0.1", port: 443, certificate });
    await this.#moto.start();
    this.#cluster = (await this.#moto.run("make", infraID)) as Record<string, string>;
  }

  stop(): Promise<void> {
    return this.#moto.close();
  }

  async everything(): Promise<string[]> {
    return (await this.#moto.run("everything")) as string[];
  }

  unknownCalls(): readonly string[] {
    return this.#moto.unknown;
  }

  async deployed(): Promise<Deployed> {
    type InBase64 = Omit<Deployed, "object" | "userData"> & { object: string; userData: string };
    const found = (await this.#moto.run("deployed", name, bucket)) as InBase64;
    return {
      ...found,
      userData: Buffer.from(found.userData, "base64"),
      object: Buffer.from(found.object, "base64"),
    };
  }

  async anonymousStatus(): Promise<number> {
    return (await httpRequest({ host: `${bucket}.s3.${region}.amazonaws.com`, path: "/payload.ign" })).status;
  }

  async flipByte(): Promise<void> {
    await this.#moto.run("payload", bucket, true);
  }

  /** While it exists, moto checks every call against the caller's policies. */
  async metadata(identity: "its own" | "another" | "none"): Promise<MetadataService> {
    const { userData } = await this.deployed();
    const role = identity === "its own" ? name : decoy;
    const credentials = (await this.#moto.run("credentials", role)) as object;
    await this.#moto.enforcePolicies(true);
    const text = (body: string) => ({ status: 200, body: Buffer.from(body) });
    const roles = "/latest/meta-data/iam/security-credentials/";
    const token = { "X-Aws-Ec2-Metadata-Token-Ttl-Seconds": "21600" };
    const service = new MetadataService(({ method, path, headers }) => {
      if (method === "PUT" && path === "/latest/api/token") return { ...text("a token"), headers: token };
      // The machine accepts nothing without one.
      if (headers["x-aws-ec2-metadata-token"] !== "a token") return { status: 401 };
      if (path === "/latest/dynamic/instance-identity/document") return text(JSON.stringify({ region }));
      if (path === "/2019-10-01/user-data") return { status: 200, body: userData };
      if (path.startsWith(roles) && identity === "none") return { status: 404 };
      if (path === roles) return text(role);
      if (path !== `${roles}${role}`) return undefined;
      const expiration = new Date(Date.now() + 3_600_000).toISOString();
      return text(JSON.stringify({ Code: "Success", Type: "AWS-HMAC", Expiration: expiration, ...credentials }));
    });
    const close = service.close.bind(service);
    service.close = async () => {
      await this.#moto.enforcePolicies(false);
      await close();
    };
    return service;
  }

  when(what: "machine is made" | "machine is removed", then: () => void): void {
    const action = what === "machine is made" ? "RunInstances" : "TerminateInstances";
    this.#moto.trap(({ host, body }) => host.startsWith("ec2.") && body.includes(`Action=${action}&`), then);
  }
}
