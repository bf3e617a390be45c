// Which collectors are alive. Each announces itself once a second, with how far its journal is applied and stored; one
// that is silent for a few seconds counts as gone until it is heard again.

import type { Bus } from "./bus.ts";

/** Positions in a collector's journal: applied and stored. */
export interface Progress {
  readonly applied: number;
  readonly stored: number;
}

export interface Peer extends Progress {
  readonly id: string;
  /** Differs after every start. */
  readonly epoch: string;
}

export interface PeersOptions {
  readonly epoch: string;
  progress(): Progress;
  onCome(peer: Peer): void;
  onGo(peer: Peer): void;
}

interface Known {
  peer: Peer;
  heardMs: number;
}

const beatMs = 1000;
const silenceMs = 4000;
/** Progress within `hurryMs` shares a message; under constant progress there is one every `steadyMs`. */
const hurryMs = 50;
const steadyMs = 250;

export class Peers {
  private readonly bus: Bus;
  private readonly options: PeersOptions;
  private readonly known = new Map<string, Known>();
  private readonly timer: NodeJS.Timeout;
  private hurrying: NodeJS.Timeout | undefined;
  private hurriedMs = Number.NEGATIVE_INFINITY;

  constructor(bus: Bus, options: PeersOptions) {
    this.bus = bus;
    this.options = options;
    bus.hear("beat", (body, from) => this.hear({ ...(body as Omit<Peer, "id">), id: from }));
    bus.hear("bye", (_body, from) => this.forget(from));
    this.timer = setInterval(() => this.step(), beatMs);
    this.timer.unref();
  }

  list(): Peer[] {
    return [...this.known.values()].map(({ peer }) => peer);
  }

  has(id: string): boolean {
    return this.known.has(id);
  }

  hurry(): void {
    if (this.hurrying !== undefined) return;
    const restMs = this.hurriedMs + steadyMs - performance.now();
    this.hurrying = setTimeout(
      () => {
        this.hurrying = undefined;
        this.hurriedMs = performance.now();
        this.beat();
      },
      Math.max(hurryMs, restMs),
    ).unref();
  }

  beat(): void {
    this.bus.tell("beat", { epoch: this.options.epoch, ...this.options.progress() });
  }

  /** The bus is lost: nobody is known to be alive. */
  forgetAll(): void {
    for (const id of [...this.known.keys()]) this.forget(id);
  }

  close(): void {
    clearInterval(this.timer);
    clearTimeout(this.hurrying);
    this.bus.tell("bye", {});
  }

  private step(): void {
    this.beat();
    const oldestMs = performance.now() - silenceMs;
    for (const [id, { heardMs }] of [...this.known]) if (heardMs < oldestMs) this.forget(id);
  }

  private hear(peer: Peer): void {
    const before = this.known.get(peer.id)?.peer;
    // A collector that was started again has forgotten what was agreed with it.
    if (before !== undefined && before.epoch !== peer.epoch) this.forget(peer.id);
    const isNew = !this.known.has(peer.id);
    this.known.set(peer.id, { peer, heardMs: performance.now() });
    if (!isNew) return;
    this.beat();
    this.options.onCome(peer);
  }

  private forget(id: string): void {
    const known = this.known.get(id);
    if (known === undefined) return;
    this.known.delete(id);
    this.options.onGo(known.peer);
  }
}
