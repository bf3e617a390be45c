// Changes of the small tables between collectors. Steps of commands are sent as they are applied, because a worker
// waits for them. For everything else the bus only says that it changed, once it is stored, and the others read it from
// the store: whoever can send messages cannot decide which keys are valid.

import { nowNs } from "#base/clock.ts";
import type { Bus } from "#bus/bus.ts";
import { decodeChanges, encodeChanges } from "#intake/changes.ts";
import type { ComponentRow } from "#intake/cirron/component-state.ts";
import type { AppliedInput } from "#intake/gathering.ts";
import type { StateRow } from "#model/state-tables.ts";
import { hasTrait } from "#protocol/facts.ts";
import type { Collector } from "#server/collector/collector.ts";
import { readCommandSteps, toSteps } from "#server/collector/commands.ts";
import { type PeerBatch, type PeerComponent, toPeerComponent } from "#server/collector/peer-batches.ts";
import { refreshJoins } from "#server/collector/refresh-joins.ts";
import { readGroupRows, readStateRows } from "#store/reader/state-rows.ts";
import { BatchNews, type BatchTidings } from "./batch-news.ts";
import type { PeeringParts } from "./peering.ts";

interface Changed {
  readonly keys: boolean;
  /** Runs that people joined or parted. */
  readonly joins: boolean;
  /** Groups other than Cirron's that are new or belong to another run. */
  readonly groups: readonly string[];
}

interface Waiting extends Changed {
  readonly position: number;
  /** Cirron batches, and what is stored of their components. */
  readonly batches: readonly PeerBatch[];
  readonly components: readonly ComponentRow[];
}

/** So many steps always fit one message: a payload has at most 64 KiB. */
const stepsAtOnce = 8;
/** So many groups and batches always fit one message; what one record changed stays together. */
const namesAtOnce = 200;
const componentCharsMax = 2048;
/** The ids of batches are remembered for a day. */
const ledgerNs = 25n * 3600n * 1_000_000_000n;
const recentNs = 600n * 1_000_000_000n;

export class StateNews {
  private readonly bus: Bus;
  private readonly collector: Collector;
  private parts: PeeringParts | null = null;
  private readonly batches: BatchNews;
  private waiting: Waiting[] = [];
  /** The position up to which others were told. */
  private toldTo = 0;
  private reading: Promise<void> = Promise.resolve();
  private isCatchingUp = false;
  /** When everything that others stored was last read. */
  private caughtUpNs: bigint | null = null;
  /** Something could not be read since. */
  private hasMissed = false;
  private closing = false;

  constructor(bus: Bus, collector: Collector) {
    this.bus = bus;
    this.collector = collector;
    this.batches = new BatchNews(collector, {
      read: (what, task) => this.read(what, task),
      onTaken: () => this.parts?.onBatchesTaken(),
    });
  }

  start(parts: PeeringParts): void {
    this.parts = parts;
    this.toldTo = this.collector.sequencer.position.applied;
    this.collector.onApplied((entry) => this.tell(entry));
    this.collector.onStored((to) => this.tellStored(to));
    this.bus.hear("commands", (body) => parts.control.fold(toSteps(decodeChanges(Buffer.from(body as string)))));
    this.bus.hear("changed", (body, from) => this.take(body as Changed & BatchTidings, from, parts));
  }

  /**
   * Reads what the bus may not have brought: everything since the last time, with some minutes of overlap; at first,
   * everything of the last day.
   */
  catchUp(wasCutOff: boolean): void {
    const { parts, collector } = this;
    // Only one at a time, so that after a long outage of the store everything is read once.
    if (parts === null || this.isCatchingUp) return;
    this.isCatchingUp = true;
    this.reading = this.reading.then(() => {
      this.hasMissed = false;
    });
    this.read("keys", () => parts.keys.reload());
    this.readJoins();
    const now = nowNs();
    // The store may have been away for longer than the overlap while the bus was there.
    const sinceNs = this.caughtUpNs === null ? now - ledgerNs : this.caughtUpNs - recentNs;
    this.read("commands", async () => parts.control.fold(await readCommandSteps(collector.store, now - recentNs)));
    this.read("groups", async () =>
      this.mergeGroups(
        await readStateRows(collector.store, "groups", "WHERE version > {since:Int64}", { since: sinceNs }),
      ),
    );
    this.read("batches", () => this.batches.catchUp(sinceNs, now - recentNs, wasCutOff));
    this.reading = this.reading.finally(() => {
      this.isCatchingUp = false;
      if (!this.hasMissed && !this.closing) this.caughtUpNs = now;
    });
  }

  async close(): Promise<void> {
    this.closing = true;
    this.batches.close();
    await this.reading;
  }

  private tell({ position, applied }: AppliedInput): void {
    const steps = applied.state.filter(({ table }) => table === "commands");
    for (let at = 0; at < steps.length; at += stepsAtOnce) {
      const part = encodeChanges(steps.slice(at, at + stepsAtOnce));
      this.bus.tell("commands", Buffer.from(part).toString());
    }
    const keys = applied.state.some(({ table }) => table === "keys");
    const joins = applied.state.some(({ table }) => table === "joins");
    const groups = applied.state.flatMap((change) =>
      change.table === "groups" && !hasTrait(change.row.protocol, "sessions") ? [change.row.group_key] : [],
    );
    const batches = applied.state.flatMap((change) =>
      change.table === "cirron_batches" ? [{ batchId: change.row.batch_id, groupKey: change.row.group_key }] : [],
    );
    const components = applied.state.flatMap((change) => (change.table === "cirron_components" ? [change.row] : []));
    if (keys || joins || groups.length + batches.length > 0)
      this.waiting.push({ position, keys, joins, groups, batches, components });
  }

  private tellStored(to: number): void {
    const stored = this.waiting.filter(({ position }) => position <= to);
    if (stored.length === 0) return;
    this.waiting = this.waiting.filter(({ position }) => position > to);
    for (const some of inParts(stored)) {
      const last = (some.at(-1) as Waiting).position;
      const changed: Changed = {
        keys: some.some(({ keys }) => keys),
        joins: some.some(({ joins }) => joins),
        groups: some.flatMap(({ groups }) => groups),
      };
      const batches = some.flatMap((one) => one.batches);
      const components = toTold(
        some.flatMap((one) => one.components),
        batches,
      );
      const tidings: BatchTidings = { after: this.toldTo, to: last, batches, components };
      this.bus.tell("changed", { ...changed, ...tidings });
      // Even if it could not be sent: the next message then shows that one is missing.
      this.toldTo = last;
    }
  }

  private take({ keys, joins, groups, ...batches }: Changed & BatchTidings, from: string, parts: PeeringParts): void {
    const { collector } = this;
    if (keys) this.read("keys", () => parts.keys.reload());
    if (joins) this.readJoins();
    if (groups.length > 0)
      this.read("groups", async () => this.mergeGroups(await readGroupRows(collector.store, "groups", groups)));
    this.batches.hear(batches, from);
  }

  private readJoins(): void {
    this.read("joins", () => refreshJoins(this.collector));
  }

  private async mergeGroups(rows: readonly StateRow<"groups">[]): Promise<void> {
    const { applier, hub } = this.collector;
    const living = rows.filter(
      ({ deleted_ns, group_key }) => deleted_ns === 0n && !applier.state.isLeaving([group_key]),
    );
    for (const row of living) hub.know(`${row.workspace}/${row.run_id}`);
    const changes = await applier.whenIdle(() =>
      living
        .filter(({ protocol }) => !hasTrait(protocol, "sessions"))
        .flatMap((row) => applier.state.groups.merge(row, nowNs())),
    );
    if (changes.length > 0) await this.collector.change(changes, "default", "");
  }

  /** Reads one after the other. If the store is away, the next catch-up reads again. */
  private read(what: string, task: () => Promise<void>): void {
    this.reading = this.reading.then(async () => {
      if (this.closing) return;
      await task().catch((cause) => {
        this.hasMissed = true;
        this.collector.tell(`What other collectors changed could not be read: ${what}.`, cause);
      });
    });
  }
}

function inParts(stored: readonly Waiting[]): Waiting[][] {
  const parts: Waiting[][] = [];
  let names = 0;
  for (const one of stored) {
    const more = one.groups.length + one.batches.length;
    if (parts.length === 0 || names + more > namesAtOnce) {
      parts.push([]);
      names = 0;
    }
    names += more;
    parts.at(-1)?.push(one);
  }
  return parts;
}

/** The components of these batches as they are now. Long ones are left out, and read from the store. */
function toTold(rows: readonly ComponentRow[], batches: readonly PeerBatch[]): PeerComponent[] {
  const newest = new Map(rows.map((row) => [row.group_key, row]));
  const keys = new Set(batches.map(({ groupKey }) => groupKey));
  return [...keys].flatMap((key) => {
    const row = newest.get(key);
    if (row === undefined || row.merged_into !== "") return [];
    const told = toPeerComponent({ ...row, state: withoutTold(row.state) });
    return told.sources.length + told.state.length > componentCharsMax ? [] : [told];
  });
}

/** Leaves out what the tables were told of the groups: it is the longest part, and nobody else needs it. */
function withoutTold(state: string): string {
  return JSON.stringify({ ...(JSON.parse(state) as object), keys: [], told: [], aliases: [] });
}
