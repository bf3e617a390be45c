// Live events across the bus. A collector asks another one for a feed, and the other's hub serves it like any
// subscriber. The messages are numbered, so a loss is noticed and the feed is reopened from the last position seen.

import type { Bus } from "#bus/bus.ts";
import type { Peer, Peers } from "#bus/peers.ts";
import type { FeedPort, FeedSink } from "#live/fan-in.ts";
import type { LiveHub, LiveInterest, LiveMessage, Subscription } from "#live/hub.ts";

interface FeedPart {
  readonly feed: number;
  /** The number of this part within its feed, from 0. */
  readonly part: number;
  readonly messages: readonly LiveMessage[];
}

interface OpenFeed {
  readonly peer: string;
  readonly sink: FeedSink;
  expected: number;
}

const askMs = 2000;
const retryMs = 500;
/** How much of the largest possible message a part may fill. */
const partFill = 0.8;

export class LiveBridge implements FeedPort {
  private readonly bus: Bus;
  private readonly peersOf: () => Peers;
  private readonly feeds = new Map<number, OpenFeed>();
  /** Feeds that others have here: `<collector>/<feed>`. */
  private readonly served = new Map<string, Subscription>();
  private nextFeed = 1;

  constructor(bus: Bus, hub: LiveHub, peersOf: () => Peers) {
    this.bus = bus;
    this.peersOf = peersOf;
    bus.hear("feed", (body) => this.receive(body as FeedPart));
    bus.hear("live_close", (body, from) => this.drop(`${from}/${(body as { feed: number }).feed}`));
    bus.answer("live_open", (body, from) => this.serve(hub, body as LiveInterest & { feed: number }, from));
  }

  peers(): readonly Peer[] {
    return this.peersOf().list();
  }

  open(peer: string, interest: LiveInterest, sink: FeedSink): Subscription {
    const feed = this.nextFeed++;
    this.feeds.set(feed, { peer, sink, expected: 0 });
    void this.ask(peer, feed, interest);
    return {
      close: () => {
        if (this.feeds.delete(feed)) this.bus.tell("live_close", { feed }, peer);
      },
    };
  }

  /** The feeds that another collector opened here end with it; it asks again when it is back. */
  peerWent(id: string): void {
    for (const key of [...this.served.keys()]) if (key.startsWith(`${id}/`)) this.drop(key);
  }

  close(): void {
    for (const key of [...this.served.keys()]) this.drop(key);
  }

  private async ask(peer: string, feed: number, interest: LiveInterest): Promise<void> {
    try {
      await this.bus.ask(peer, "live_open", { feed, ...interest }, askMs);
    } catch {
      setTimeout(() => {
        if (this.feeds.has(feed) && this.peersOf().has(peer)) this.feeds.get(feed)?.sink.broken();
      }, retryMs).unref();
    }
  }

  private receive({ feed, part, messages }: FeedPart): void {
    const open = this.feeds.get(feed);
    if (open === undefined) return;
    if (part !== open.expected) open.sink.broken();
    else {
      open.expected++;
      open.sink.send(messages);
    }
  }

  private serve(hub: LiveHub, { feed, ...interest }: LiveInterest & { feed: number }, from: string): null {
    const key = `${from}/${feed}`;
    this.drop(key);
    let part = 0;
    const tell = (messages: readonly LiveMessage[]) => this.bus.tell("feed", { feed, part: part++, messages }, from);
    const send = (messages: readonly LiveMessage[]): void => {
      for (const some of split(messages, this.bus.bodyBytesMax * partFill)) tell(some);
    };
    this.served.set(key, hub.subscribe(interest, { send, backlogBytes: () => 0 }));
    return null;
  }

  private drop(key: string): void {
    this.served.get(key)?.close();
    this.served.delete(key);
  }
}

/**
 * Splits messages into parts that fit. A message that is too large is reported as skipped, and the subscriber queries
 * it.
 */
function split(messages: readonly LiveMessage[], bytesMax: number): LiveMessage[][] {
  const parts: LiveMessage[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = Buffer.byteLength(JSON.stringify(message));
    const isTooLarge = size > bytesMax;
    const fitting = isTooLarge ? toSkipped(message) : message;
    const last = parts.at(-1);
    if (last === undefined || bytes + size > bytesMax) {
      parts.push([fitting]);
      bytes = isTooLarge ? 0 : size;
    } else {
      last.push(fitting);
      bytes += size;
    }
  }
  return parts;
}

function toSkipped({ id }: LiveMessage): LiveMessage {
  const reason = "These events are too large to send between collectors.";
  return { id, name: "skipped", data: { from: id, to: id, reason } };
}
