// This collector among the others of its installation: who is alive, and the messages between them. The bus only makes
// things faster; what it did not bring is read from the store when it is back, and every half minute.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Bus } from "#bus/bus.ts";
import { Peers } from "#bus/peers.ts";
import type { Config } from "#config/settings.ts";
import type { Control, OtherCollectors } from "#control/control.ts";
import { LiveFanIn } from "#live/fan-in.ts";
import type { RunId, Workspace } from "#model/names.ts";
import { formatPositions } from "#model/positions.ts";
import type { Collector } from "#server/collector/collector.ts";
import type { DurableKeys } from "#server/collector/key-store.ts";
import type { Log } from "#server/log.ts";
import type { Metrics } from "#server/metrics.ts";
import { createClaims } from "./claims.ts";
import { SharedDeletions } from "./deletions.ts";
import { WorkerDirectory, type WorkerPlace } from "./directory.ts";
import { LiveBridge } from "./live-bridge.ts";
import { createSights, type Sights } from "./sights.ts";
import { StateNews } from "./state-news.ts";

export interface PeeringParts {
  readonly control: Control;
  readonly keys: DurableKeys;
  onBatchesTaken(): void;
  workers(): readonly Omit<WorkerPlace, "kind">[];
}

export interface PeeringOptions {
  readonly collector: Collector;
  readonly config: Pick<Config, "busUrl" | "busUser" | "busPassword" | "busPrefix">;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Another process with the id of this collector was there first. */
  onTwin(): void;
}

const tellMs = 1000;
const catchUpMs = 30_000;

export class Peering {
  readonly others: OtherCollectors;
  readonly live: LiveFanIn;
  readonly deletions: SharedDeletions;
  readonly sights: Sights;
  private readonly options: PeeringOptions;
  private readonly bus: Bus;
  private readonly peers: Peers;
  private readonly bridge: LiveBridge;
  private readonly directory: WorkerDirectory;
  private readonly news: StateNews;
  private readonly timers: NodeJS.Timeout[] = [];
  private parts: PeeringParts | null = null;
  private readonly twins: TwinWatch;

  constructor(options: PeeringOptions) {
    this.options = options;
    const { collector, metrics } = options;
    metrics.busConnected.set(0);
    metrics.collectors.set(1);
    this.bus = this.openBus();
    this.twins = new TwinWatch(this.bus, options.onTwin);
    this.peers = this.openPeers();
    this.bridge = new LiveBridge(this.bus, collector.hub, () => this.peers);
    this.live = new LiveFanIn(collector.hub, this.bridge);
    this.directory = new WorkerDirectory(this.bus, () => this.places());
    this.others = createClaims(this.bus, this.peers, this.directory, () => this.parts?.control ?? null);
    this.deletions = new SharedDeletions(collector, { bus: this.bus, peers: this.peers });
    this.sights = createSights(this.bus, () => this.peers);
    this.news = new StateNews(this.bus, collector);
    collector.onApplied(() => this.peers.hurry());
    collector.onStored(() => this.peers.hurry());
  }

  /** The positions up to which answers are complete now, of all collectors. */
  asOf(): string {
    const { collector } = this.options;
    const stored = new Map(this.peers.list().map((peer) => [peer.id, peer.stored]));
    return formatPositions(stored.set(collector.id, collector.writer.stored));
  }

  isConnectedElsewhere(workspace: Workspace, run: RunId): boolean {
    return this.directory.workersOf("connected", workspace, run).length > 0;
  }

  /** Sentences about what does not work between collectors now. */
  degraded(): string[] {
    if (this.bus.isConnected) return [];
    return ["The bus does not answer: live events and commands of other collectors are missing."];
  }

  /** Resolves when it is known whether another process runs as this collector, or when nobody can be asked now. */
  introduced(): Promise<void> {
    return this.twins.introduced();
  }

  /** Starts to send and receive messages. */
  start(parts: PeeringParts): void {
    this.parts = parts;
    this.news.start(parts);
    const tell = setInterval(() => this.directory.tell(), tellMs);
    const catchUp = setInterval(() => this.news.catchUp(!this.bus.isConnected), catchUpMs);
    this.timers.push(tell.unref(), catchUp.unref());
    this.news.catchUp(true);
  }

  async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.peers.close();
    this.bridge.close();
    await this.news.close();
    await this.bus.close();
  }

  private openBus(): Bus {
    const { collector, config, log, metrics } = this.options;
    return new Bus({
      url: config.busUrl,
      user: config.busUser,
      password: config.busPassword,
      prefix: config.busPrefix,
      self: collector.id,
      onChange: (isConnected) => {
        metrics.busConnected.set(isConnected ? 1 : 0);
        if (isConnected) {
          log.info({ collector: collector.id }, "The bus is connected.");
          void this.twins.look();
          this.peers.beat();
          if (this.parts === null) return;
          this.news.catchUp(true);
          this.deletions.catchUp();
        } else {
          log.warn("The bus is lost; it reconnects as soon as it answers, and nothing accepted waits for it.");
          this.peers.forgetAll();
        }
        this.parts?.control.retry();
      },
      onTrouble: collector.tell,
    });
  }

  private openPeers(): Peers {
    const { collector, log, metrics } = this.options;
    return new Peers(this.bus, {
      epoch: randomUUID(),
      progress: () => ({ applied: collector.sequencer.position.applied, stored: collector.writer.stored }),
      onCome: (peer) => {
        log.info({ peer: peer.id }, "Another collector has appeared.");
        metrics.collectors.set(this.peers.list().length + 1);
        this.directory.tellAll(peer.id);
        this.live.peerCame(peer);
        this.parts?.control.retry();
      },
      onGo: ({ id }) => {
        log.warn({ peer: id }, "Another collector is no longer heard.");
        metrics.collectors.set(this.peers.list().length + 1);
        this.bridge.peerWent(id);
        this.live.peerWent(id);
        this.directory.peerWent(id);
        this.sights.peerWent();
        this.parts?.control.retry();
      },
    });
  }

  private places(): WorkerPlace[] {
    if (this.parts === null) return [];
    const { control, workers } = this.parts;
    return [
      ...workers().map((place) => ({ ...place, kind: "connected" as const })),
      ...control.acceptingAll().map((place) => ({ ...place, kind: "accepting" as const })),
    ];
  }
}

// Two processes with one collector id: a data folder was copied while its collector ran. They would count journal
// positions under one id, so the later process must not go on. A question sent to its own id can only be answered by a
// twin.

interface Start {
  readonly epoch: string;
  /** By the clock of its machine. */
  readonly atMs: number;
}

const answerMs = 1000;
/** How long a start waits for a bus that does not answer. */
const introduceMs = 1000;

class TwinWatch {
  private readonly bus: Bus;
  private readonly own: Start = { epoch: randomUUID(), atMs: Date.now() };
  private readonly onTwin: () => void;
  private readonly looked = Promise.withResolvers<void>();

  constructor(bus: Bus, onTwin: () => void) {
    this.bus = bus;
    this.onTwin = onTwin;
    bus.answer("twin", () => this.own);
  }

  /** Call it whenever the bus has connected. */
  async look(): Promise<void> {
    try {
      const other = (await this.bus.ask(this.bus.self, "twin", {}, answerMs)) as Start;
      if (isBefore(other, this.own)) {
        this.onTwin();
        return;
      }
    } catch {
      // Nobody else has this id.
    }
    this.looked.resolve();
  }

  async introduced(): Promise<void> {
    await Promise.race([this.looked.promise, sleep(introduceMs, undefined, { ref: false })]);
  }
}

function isBefore(other: Start, own: Start): boolean {
  return other.atMs < own.atMs || (other.atMs === own.atMs && other.epoch < own.epoch);
}
