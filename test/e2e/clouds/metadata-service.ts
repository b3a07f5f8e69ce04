import { type Answer, type Call, StandIn } from "./stand-in.ts";

/** A cloud's metadata service at the address that all clouds have it at, for one machine. Plain HTTP, as the clouds do. */
export class MetadataService extends StandIn {
  readonly #answer: (call: Call) => Answer | undefined;

  constructor(answer: (call: Call) => Answer | undefined) {
    super();
    this.#answer = answer;
  }

  protected override answer(call: Call): Answer | undefined {
    return this.#answer(call);
  }

  async start(): Promise<void> {
    await this.listen({ address: "169.254.169.254", port: 80 });
  }
}
