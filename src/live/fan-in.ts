// The events of all collectors for one subscriber. The hub of its own collector feeds it directly. Every other
// collector sends a feed, which its hub fills like any subscription. Positions are kept per collector, so a broken feed
// resumes where it ended, or says what it skipped.

import { formatPosition, formatPositions, parsePositions } from "#model/positions.ts";
import {
  backlogBytesMax,
  didNotKeepUp,
  type LiveHub,
  type LiveInterest,
  type LiveMessage,
  type LiveSink,
  lookMs,
  type Subscription,
} from "./hub.ts";

export interface LivePeer {
  readonly id: string;
  /** How far its journal was applied when last heard. */
  readonly applied: number;
}

/** Access to the hubs of other collectors. */
export interface FeedPort {
  peers(): readonly LivePeer[];
  /** `interest.after` is a position of that collector. */
  open(peer: string, interest: LiveInterest, sink: FeedSink): Subscription;
}

export interface FeedSink {
  send(messages: readonly LiveMessage[]): void;
  /** Messages were lost: the feed has to be opened again. */
  broken(): void;
}

export class LiveFanIn {
  private readonly hub: LiveHub;
  private readonly port: FeedPort;
  private readonly subscribers = new Set<Subscriber>();

  constructor(hub: LiveHub, port: FeedPort) {
    this.hub = hub;
    this.port = port;
  }

  subscribe(interest: LiveInterest, sink: LiveSink): Subscription {
    const subscriber = new Subscriber(interest, sink, this.hub, this.port);
    this.subscribers.add(subscriber);
    return {
      close: () => {
        this.subscribers.delete(subscriber);
        subscriber.close();
      },
    };
  }

  peerCame(peer: LivePeer): void {
    for (const subscriber of this.subscribers) subscriber.follow(peer, true);
  }

  peerWent(id: string): void {
    for (const subscriber of this.subscribers) subscriber.lose(id);
  }
}

class Subscriber {
  private readonly interest: LiveInterest;
  private readonly sink: LiveSink;
  private readonly port: FeedPort;
  /** The position up to which each collector's events were sent. */
  private readonly positions: Map<string, number>;
  private readonly feeds = new Map<string, Subscription>();
  /** Per collector, the first position that was left out because the backlog was full. */
  private readonly skippedFrom = new Map<string, number>();
  private looking: NodeJS.Timeout | undefined;
  private readonly own: Subscription;

  constructor(interest: LiveInterest, sink: LiveSink, hub: LiveHub, port: FeedPort) {
    this.interest = interest;
    this.sink = sink;
    this.port = port;
    this.positions = parsePositions(interest.after ?? "");
    const peers = port.peers();
    // The greeting names the position of every collector, so these must be known before the own hub sends anything.
    const missed = peers.filter(({ id }) => !this.positions.has(id));
    for (const { id, applied } of missed) this.positions.set(id, applied);
    this.own = hub.subscribe(interest, {
      send: (messages) => sink.send(messages.map((message) => this.stamp(hub.collector, message))),
      backlogBytes: () => sink.backlogBytes(),
    });
    if (interest.after !== null) for (const { id } of missed) this.tellSkipped(id, unknownThen);
    for (const peer of peers) this.follow(peer, false);
  }

  follow({ id, applied }: LivePeer, isNew: boolean): void {
    if (this.feeds.has(id)) return;
    if (!this.positions.has(id)) {
      this.positions.set(id, applied);
      if (isNew) this.tellSkipped(id, unknownThen);
    }
    const after = formatPosition(id, this.positions.get(id) as number);
    const feed = this.port.open(
      id,
      { ...this.interest, after },
      {
        send: (messages) => this.pass(id, messages),
        broken: () => {
          this.feeds.get(id)?.close();
          this.feeds.delete(id);
          this.follow({ id, applied }, false);
        },
      },
    );
    this.feeds.set(id, feed);
  }

  lose(id: string): void {
    const feed = this.feeds.get(id);
    if (feed === undefined) return;
    feed.close();
    this.feeds.delete(id);
    this.tellSkipped(id, `Collector ${id} does not answer; what it has comes when it does.`);
  }

  close(): void {
    clearInterval(this.looking);
    this.own.close();
    for (const feed of this.feeds.values()) feed.close();
    this.feeds.clear();
  }

  private pass(id: string, messages: readonly LiveMessage[]): void {
    const news = messages.filter(({ name }) => name !== "hello");
    if (news.length === 0) return;
    if (this.sink.backlogBytes() > backlogBytesMax) {
      if (!this.skippedFrom.has(id)) this.skippedFrom.set(id, this.positions.get(id) ?? 0);
      for (const message of news) this.note(id, message.id);
      this.looking ??= setInterval(() => this.look(), lookMs).unref();
      return;
    }
    this.look();
    this.sink.send(news.map((message) => this.stamp(id, message)));
  }

  /** Tells a subscriber that has caught up what it missed. */
  private look(): void {
    if (this.sink.backlogBytes() > backlogBytesMax) return;
    clearInterval(this.looking);
    this.looking = undefined;
    for (const [id, from] of this.skippedFrom) this.tellSkipped(id, didNotKeepUp, from);
    this.skippedFrom.clear();
  }

  private tellSkipped(id: string, reason: string, from = this.positions.get(id) ?? 0): void {
    const to = this.positions.get(id) ?? 0;
    const data = { from: formatPosition(id, from), to: formatPosition(id, to), reason };
    this.sink.send([{ id: formatPositions(this.positions, id), name: "skipped", data }]);
  }

  /** The message with the positions of all collectors for its id. */
  private stamp(collector: string, message: LiveMessage): LiveMessage {
    this.note(collector, message.id);
    const data = message.name === "hello" ? { as_of: this.asOf(collector, message) } : message.data;
    return { ...message, id: message.id === "" ? "" : formatPositions(this.positions, collector), data };
  }

  private asOf(collector: string, { data }: LiveMessage): string {
    const now = parsePositions((data as { as_of: string }).as_of).get(collector) ?? 0;
    return formatPositions(new Map([...this.positions, [collector, now]]));
  }

  private note(collector: string, id: string): void {
    const position = parsePositions(id).get(collector);
    if (position !== undefined) this.positions.set(collector, position);
  }
}

const unknownThen = "This collector was not known when the answer was made that these events follow.";
