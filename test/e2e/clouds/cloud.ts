import type { CloudName } from "../../support/clouds.ts";
import type { Certificate } from "./certificate.ts";
import type { MetadataService } from "./metadata-service.ts";

/** A rule that opens a port, in one form for every cloud. */
export interface OpenPort {
  readonly port: string;
  readonly sources: readonly string[];
  /** The group, tag or address that it opens. */
  readonly destination: string;
}

/** What the cloud itself says of the bootstrap machine and what belongs to it. */
export interface Deployed {
  /** All that the cloud says of the machine: the same text, if nothing touched it. */
  readonly machine: string;
  /** As the machine reads it. */
  readonly userData: Buffer;
  readonly tags: Readonly<Record<string, string>>;
  /** Every rule for the machine's own group, tag or address. */
  readonly openPorts: readonly OpenPort[];
  /** What of the load balancers' groups has the machine in it. */
  readonly memberOf: readonly string[];
  /** Where the payload is: what says who may read it. */
  readonly store: object;
  /** The payload, read with the operator's rights. */
  readonly object: Buffer;
}

/** What a machine's user data must be. */
export interface ExpectedPointer {
  readonly source: string;
  /** What follows the source and cannot be foreseen, because it was signed when the machine was made. @default - nothing */
  readonly signature?: RegExp;
  /** Seconds. @default - Ignition gives up by itself */
  readonly httpTotal?: number;
}

/** A cloud on this machine, with an existing cluster in it, and a decoy with similar names. */
export interface Cloud {
  readonly name: CloudName;
  /** Options below the platform's name, and what else the config file has. */
  readonly options: object;
  readonly rest?: object;
  /** Options for a machine of another size, with another disk. */
  readonly otherParts: object;
  /** What a user would have in the environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly expected: {
    readonly sources: readonly string[];
    readonly destination: RegExp;
    readonly memberOf: readonly string[];
    readonly clusterTag: Readonly<Record<string, string>>;
    readonly pointer: ExpectedPointer;
    /** Among what the cloud says of the store. */
    readonly store: object;
  };
  /** Something in the stack's JSON that only the provider knows to be right, and what it says if it is not. */
  readonly mistake: { readonly right: string; readonly wrong: string; readonly said: string };
  /** What checkov finds in the plan, with the reason why it stays. */
  readonly accepted: Readonly<Record<string, string>>;
  /** What its provider says of things that are gone already, instead of seeing it; its page in docs has the way around. */
  readonly cannotRead?: RegExp;
  start(certificate: Certificate, folder: string): Promise<void>;
  stop(): Promise<void>;
  /** Everything that is in the cloud, one line each. */
  everything(): Promise<string[]>;
  deployed(): Promise<Deployed>;
  /** Whether anybody can read the payload. */
  anonymousStatus(): Promise<number>;
  /** Calls that the fake does not implement. */
  unknownCalls(): readonly string[];
  /** Changes one byte of the payload, without a trace in any API. */
  flipByte(): void | Promise<void>;
  /** The metadata service that the machine asks at boot. none: the machine has no identity. */
  metadata(identity: "its own" | "another" | "none"): Promise<MetadataService>;
  readonly ignitionPlatform: string;
  /** The program, if Debian's is too old for it. */
  readonly ignition?: string;
  /** Runs `then` when the machine's creation or removal is asked for, which does not happen. */
  when(what: "machine is made" | "machine is removed", then: () => void): void;
}
