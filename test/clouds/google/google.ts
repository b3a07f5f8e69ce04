import { ask } from "../ask.ts";
import type { Certificate } from "../certificate.ts";
import type { Cloud, Deployed, OpenPort } from "../cloud.ts";
import { MetadataService } from "../metadata-service.ts";
import type { Json } from "../stand-in.ts";
import { metadata } from "../../support/stacks.ts";
import { GoogleStandIn, tokenOf } from "./stand-in.ts";

const { infraID } = metadata;
const project = metadata.gcp.projectID;
const region = `projects/${project}/regions/${metadata.gcp.region}`;
const zone = `projects/${project}/zones/${metadata.gcp.region}-b`;
const network = `projects/${project}/global/networks/${infraID}-network`;
const group = `${infraID}-master-${metadata.gcp.region}-b-ig`;
const bucket = `${infraID}-bootstrap-${metadata.clusterID.slice(0, 8)}`;
const machine = `${zone}/instances/${infraID}-bootstrap`;
const object = "payload.ign";

const operator = { Authorization: "Bearer operator" };

/** Asks the API, as the operator unless it says otherwise. */
const get = (host: string, path: string, headers: Record<string, string> = operator) => ask({ host, path, headers });
const compute = async (path: string) =>
  JSON.parse((await get("compute.googleapis.com", `/compute/v1/${path}`)).body.toString()) as Json;

export class Google implements Cloud {
  readonly name = "google";
  readonly ignitionPlatform = "gcp";
  readonly options = {
    zone: `${metadata.gcp.region}-b`,
    clusterNetwork: `${infraID}-network`,
    subnet: `${infraID}-master-subnet`,
    instanceGroup: group,
    image: "projects/rhcos-cloud/global/images/rhcos-9-6-gcp-x86-64",
    // Permissions are there at once.
    identityWaitSeconds: 0,
  };
  readonly mistake = { right: '"direction":"INGRESS"', wrong: '"direction":"INWARDS"', said: "direction" };
  readonly rest = { tunnel: { address: "10.0.1.5" } };
  readonly environment = { GOOGLE_OAUTH_ACCESS_TOKEN: "operator", GCE_METADATA_HOST: "127.0.0.1:8080" };
  readonly expected = {
    sources: [`${infraID}-master`, `${infraID}-worker`],
    destination: new RegExp(`^${infraID}-konnectivity$`),
    memberOf: [group],
    clusterTag: { [`kubernetes-io-cluster-${infraID}`]: "owned" },
    pointer: { source: `gs://${bucket}/${object}` },
  };
  readonly #standIn = new GoogleStandIn(project);

  async start(certificate: Certificate): Promise<void> {
    const standIn = this.#standIn;
    standIn.has(`${region}/subnetworks/${infraID}-master-subnet`, {
      ipCidrRange: "10.0.1.0/24",
      network: `https://www.googleapis.com/compute/v1/${network}`,
    });
    standIn.has(`${zone}/instanceGroups/${group}`, { namedPorts: [] });
    standIn.members.set(`${zone}/instanceGroups/${group}`, [
      `https://www.googleapis.com/compute/v1/${zone}/instances/${infraID}-master-0`,
    ]);
    // The cluster's own rule, and a decoy: another cluster's bootstrap, with names that are nearly ours.
    standIn.has(`projects/${project}/global/firewalls/${infraID}-api`, {
      allowed: [{ IPProtocol: "tcp", ports: ["6443"] }],
    });
    standIn.has(`projects/${project}/global/firewalls/${infraID}2-bootstrap-konnectivity`);
    standIn.has(`${zone}/instances/${infraID}2-bootstrap`);
    await standIn.listen({ address: "127.0.0.1", port: 443, certificate });
    await standIn.listen({ address: "127.0.0.1", port: 8080 });
  }

  stop(): Promise<void> {
    return this.#standIn.close();
  }

  everything(): Promise<string[]> {
    return Promise.resolve(this.#standIn.everything());
  }

  unknownCalls(): readonly string[] {
    return this.#standIn.unknown;
  }

  async deployed(): Promise<Deployed> {
    const instance = await compute(machine);
    const { items } = instance.metadata as { items: { key: string; value: string }[] };
    const rules = [...this.#standIn.compute.values()].filter(({ targetTags }) => targetTags !== undefined);
    const openPorts = rules.flatMap((rule): OpenPort[] =>
      (rule.allowed as { IPProtocol: string; ports: string[] }[]).map(({ IPProtocol, ports }) => ({
        port: `${IPProtocol} ${ports.join()}`,
        sources: [...((rule.sourceTags ?? []) as string[]), ...((rule.sourceRanges ?? []) as string[])],
        destination: (rule.targetTags as string[]).join(),
      })),
    );
    const groups = [...this.#standIn.members].filter(([, members]) =>
      members.some((member) => member.endsWith(`/${machine}`)),
    );
    return {
      machine: JSON.stringify(instance),
      userData: Buffer.from(items.find(({ key }) => key === "user-data")?.value ?? ""),
      tags: instance.labels as Record<string, string>,
      openPorts,
      memberOf: groups.map(([path]) => path.split("/").at(-1) ?? ""),
      object: this.#standIn.objects.get(`${bucket}/${object}`)?.bytes ?? Buffer.alloc(0),
    };
  }

  async anonymousStatus(): Promise<number> {
    return (await get("storage.googleapis.com", `/${bucket}/${object}`, {})).status;
  }

  flipByte(): void {
    const bytes = this.#standIn.objects.get(`${bucket}/${object}`)?.bytes;
    if (bytes !== undefined) bytes[100] = (bytes[100] ?? 0) ^ 1;
  }

  async metadata(identity: "its own" | "another" | "none"): Promise<MetadataService> {
    const { userData } = await this.deployed();
    const [account] = (await compute(machine)).serviceAccounts as { email: string; scopes: string[] }[];
    const email = identity === "its own" ? account?.email : "other@sample-project.iam.gserviceaccount.com";
    const flavor = { "Metadata-Flavor": "Google" };
    return new MetadataService(({ path }) => {
      const ok = (body: Buffer | object) => ({ status: 200, body, headers: flavor });
      if (path === "/") return ok(Buffer.from("computeMetadata/\n"));
      if (path === "/computeMetadata/v1/project/project-id") return ok(Buffer.from(project));
      if (path === "/computeMetadata/v1/instance/attributes/user-data") return ok(userData);
      if (identity !== "none" && path.endsWith("/service-accounts/default/scopes"))
        return ok(Buffer.from((account?.scopes ?? []).join("\n")));
      if (identity !== "none" && path.endsWith("/service-accounts/default/token"))
        return ok({ access_token: tokenOf(email ?? ""), expires_in: 3600, token_type: "Bearer" });
      return path.includes("/service-accounts/") ? { status: 404, headers: flavor } : undefined;
    });
  }

  when(what: "machine is made" | "machine is removed", then: () => void): void {
    const [method, path] = what === "machine is made" ? ["POST", `${zone}/instances`] : ["DELETE", machine];
    this.#standIn.trap((call) => call.method === method && call.path === `/compute/v1/${path}`, then);
  }
}
