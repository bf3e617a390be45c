// Messages between the collectors of one installation, over NATS core messaging. Nothing here is kept: what matters is
// in a journal or in the store, and the bus only spreads it sooner. So a message that cannot be sent is dropped, nobody
// waits for the bus, and a collector that was cut off reads the store again.

import { setTimeout as sleep } from "node:timers/promises";
import type { Msg, NatsConnection, NodeConnectionOptions } from "@nats-io/transport-node";

export interface BusOptions {
  /** `nats://host:port`, or several with commas between. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** The prefix of all subjects: two installations may share a NATS server. */
  readonly prefix: string;
  /** This collector. */
  readonly self: string;
  /** Called when the connection comes and when it goes. */
  onChange(isConnected: boolean): void;
  onTrouble(message: string, cause: unknown): void;
}

export type Listener = (body: unknown, from: string) => void;
export type Answerer = (body: unknown, from: string) => unknown;

export class BusOutage extends Error {
  override readonly name = "BusOutage";
  readonly kind: "unreachable" | "refused";

  constructor(kind: "unreachable" | "refused", message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

interface Envelope {
  readonly from: string;
  readonly body: unknown;
}

/** Room for the envelope within what the server takes. */
const envelopeBytes = 4096;
const reconnectMs = 500;
const pingMs = 2000;
const connectMs = 5000;

/** The connection is made in the background, and made again after every loss, for as long as the bus is open. */
export class Bus {
  readonly self: string;
  private readonly options: BusOptions;
  private readonly listeners = new Map<string, Listener[]>();
  private readonly answerers = new Map<string, Answerer>();
  private connection: NatsConnection | null = null;
  private connected = false;
  private closing = false;

  constructor(options: BusOptions) {
    this.options = options;
    this.self = options.self;
    this.run().catch((cause) => options.onTrouble("The bus cannot be used.", cause));
  }

  get isConnected(): boolean {
    return this.connected;
  }

  /** The largest body in bytes; 0 while nothing is connected. */
  get bodyBytesMax(): number {
    return this.connected ? (this.connection?.info?.max_payload ?? 0) - envelopeBytes : 0;
  }

  /** Sends to every other collector, or to one. False if it could not be sent. */
  tell(topic: string, body: unknown, to?: string): boolean {
    if (!this.connected || this.connection === null) return false;
    const { prefix } = this.options;
    try {
      this.connection.publish(
        to === undefined ? `${prefix}.all.${topic}` : `${prefix}.to.${to}.${topic}`,
        this.pack(body),
      );
      return true;
    } catch (cause) {
      this.options.onTrouble(`A message about ${topic} could not be sent.`, cause);
      return false;
    }
  }

  hear(topic: string, listener: Listener): void {
    this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
  }

  /** Throws BusOutage when no answer comes. */
  async ask(to: string, topic: string, body: unknown, timeoutMs: number): Promise<unknown> {
    if (!this.connected || this.connection === null) throw new BusOutage("unreachable", "The bus is not connected.");
    try {
      const subject = `${this.options.prefix}.to.${to}.${topic}`;
      const reply = await this.connection.request(subject, this.pack(body), { timeout: timeoutMs });
      const answer = reply.json<{ ok: unknown } | { refused: string }>();
      if ("refused" in answer) throw new BusOutage("refused", answer.refused);
      return answer.ok;
    } catch (cause) {
      if (cause instanceof BusOutage) throw cause;
      throw new BusOutage("unreachable", `Collector ${to} did not answer about ${topic}.`, { cause });
    }
  }

  /** One per topic. */
  answer(topic: string, answerer: Answerer): void {
    this.answerers.set(topic, answerer);
  }

  async close(): Promise<void> {
    this.closing = true;
    this.connected = false;
    await this.connection?.close();
  }

  private async run(): Promise<void> {
    while (!this.closing) await this.live();
  }

  /** From one connection to its end. */
  private async live(): Promise<void> {
    const { url, user, password, self } = this.options;
    const connect = await loadConnect();
    const settings: NodeConnectionOptions = {
      servers: url.split(",").map((one) => one.trim()),
      name: `tributary ${self}`,
      noEcho: true,
      maxReconnectAttempts: -1,
      timeout: connectMs,
      reconnectTimeWait: reconnectMs,
      pingInterval: pingMs,
      ...(user === "" ? {} : { user, pass: password }),
      ...(user === "" && password !== "" ? { token: password } : {}),
    };
    const connection = await this.connectUntilThere(() => connect(settings));
    if (connection === null) return;
    if (this.closing) {
      await connection.close();
      return;
    }
    this.connection = connection;
    this.listen(connection);
    this.change(true);
    this.watch(connection).catch((cause) => this.options.onTrouble("The bus is no longer watched.", cause));
    const cause = await connection.closed();
    this.change(false);
    // The client gives up when the server refuses it. A corrected password or a restarted server changes that.
    if (this.closing) return;
    this.options.onTrouble("The bus was closed; it is connected again.", cause);
    await sleep(reconnectMs, undefined, { ref: false });
  }

  /** The client restores a connection that it once had, but its wait for the first one cannot be ended. */
  private async connectUntilThere(connect: () => Promise<NatsConnection>): Promise<NatsConnection | null> {
    let isTold = false;
    while (!this.closing) {
      try {
        return await connect();
      } catch (cause) {
        if (!isTold) this.options.onTrouble("The bus does not answer yet; it is tried again until it does.", cause);
        isTold = true;
        await sleep(reconnectMs, undefined, { ref: false });
      }
    }
    return null;
  }

  private listen(connection: NatsConnection): void {
    const { prefix } = this.options;
    for (const subject of [`${prefix}.all.>`, `${prefix}.to.${this.self}.>`])
      connection.subscribe(subject, { callback: (error, message) => this.receive(error, message) });
  }

  private async watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === "disconnect" || type === "staleConnection") this.change(false);
      if (type === "reconnect") this.change(true);
    }
  }

  private change(isConnected: boolean): void {
    if (isConnected === this.connected || (this.closing && isConnected)) return;
    this.connected = isConnected;
    this.options.onChange(isConnected);
  }

  private pack(body: unknown): string {
    return JSON.stringify({ from: this.self, body } satisfies Envelope);
  }

  private receive(error: Error | null, message: Msg): void {
    if (error !== null) {
      this.options.onTrouble("The bus refuses a subscription.", error);
      return;
    }
    const topic = message.subject.slice(message.subject.lastIndexOf(".") + 1);
    try {
      const { from, body } = message.json<Envelope>();
      if (message.reply !== undefined && message.reply !== "") void this.reply(message, topic, body, from);
      else for (const listener of this.listeners.get(topic) ?? []) listener(body, from);
    } catch (cause) {
      this.options.onTrouble(`A message about ${topic} could not be understood.`, cause);
    }
  }

  private async reply(message: Msg, topic: string, body: unknown, from: string): Promise<void> {
    try {
      const answerer = this.answerers.get(topic);
      if (answerer === undefined) throw new Error(`This collector knows nothing about ${topic}.`);
      message.respond(JSON.stringify({ ok: (await answerer(body, from)) ?? null }));
    } catch (cause) {
      message.respond(JSON.stringify({ refused: cause instanceof Error ? cause.message : String(cause) }));
    }
  }
}

type Transport = typeof import("@nats-io/transport-node");

/** Loaded only where a bus is configured. In a bundle, the exports of a CommonJS package are found under `default`. */
async function loadConnect(): Promise<Transport["connect"]> {
  const loaded = await import("@nats-io/transport-node");
  return "connect" in loaded ? loaded.connect : (loaded as unknown as { default: Transport }).default.connect;
}
