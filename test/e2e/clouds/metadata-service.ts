import { type FakeResponse, type Call, FakeServer } from "./fake-server.ts";

/** A cloud's metadata service at the address that all clouds have it at, for one machine. Plain HTTP, as the clouds do. */
export class MetadataService extends FakeServer {
  readonly #respond: (call: Call) => FakeResponse | undefined;

  constructor(answer: (call: Call) => FakeResponse | undefined) {
    super();
    this.#respond = answer;
  }

  protected override respond(call: Call): FakeResponse | undefined {
    return this.#respond(call);
  }

  async start(): Promise<void> {
    await this.listen({ address: "169.254.169.254", port: 80 });
  }
}
