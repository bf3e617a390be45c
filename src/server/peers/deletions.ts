// Deleting runs when several collectors write to one store. No collector waits for another: an order says how far it
// covers each journal, so later records are safe whoever removes the rows, and whenever. The other collectors learn of
// an order over the bus or from the store; then they forget the groups and remove what they stored late.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { nowNs } from "#base/clock.ts";
import type { Bus } from "#bus/bus.ts";
import type { Peer, Peers } from "#bus/peers.ts";
import type { Receipt } from "#intake/sequencer.ts";
import type { StateChange } from "#model/state-tables.ts";
import type { Collector } from "#server/collector/collector.ts";
import { type DeletionOrder, leave, untilTaken } from "#server/collector/deletion.ts";
import { type DeletionFact, keysOf, noteDone, readOrders, toDeletionChange } from "#store/deletion-orders.ts";
import { readJoins } from "#store/reader/joins.ts";
import { readGroupsOfRuns } from "#store/reader/run-names.ts";
import { readGroupRows } from "#store/reader/state-rows.ts";
import { readGroupPositions, removeCovered, reviveLeft } from "#store/remove-covered.ts";

/** Null with one collector, or without a bus. */
type Link = { readonly bus: Bus; readonly peers: Peers } | null;

/** If a collector does not report its position within this time, its last known position is used. */
const positionMs = 2000;
/**
 * What a collector has accepted is stored first, if that takes no longer than this: only groups that are stored can be
 * listed.
 */
const storeMs = 1000;
/** How long another collector may take to remove the rows before this one does it. */
const patienceMs = 10_000;
/**
 * How often the store is asked for unannounced orders: each time while the bus is away, once in `looksWhileConnected`
 * times while it is there.
 */
const lookMs = 5000;
const looksWhileConnected = 6;
/** Clocks may differ, and an order takes a while to be stored. */
const windowNs = 600n * 1_000_000_000n;
/** No collector that is started again has been away longer. */
const startWindowNs = 30n * 86_400n * 1_000_000_000n;

export class SharedDeletions {
  private readonly collector: Collector;
  private readonly link: Link;
  private readonly timer: NodeJS.Timeout;
  /** Orders that this process has seen. */
  private readonly seen = new Set<string>();
  /** Called when the rows of an order are removed. */
  private readonly awaited = new Map<string, () => void>();
  private readonly underWay = new Set<Promise<void>>();
  private turn: Promise<unknown> = Promise.resolve();
  private looks = 0;
  /** When the orders were last read from the store. */
  private lookedNs: bigint | null = null;
  private closing = false;

  constructor(collector: Collector, link: Link) {
    this.collector = collector;
    this.link = link;
    link?.bus.answer("position", () => this.settlePosition());
    link?.bus.hear("deleted", (body) => void this.hear(body as string));
    link?.bus.hear("removed", (body) => this.awaited.get(body as string)?.());
    this.timer = setInterval(() => void this.lookNowAndThen(), lookMs).unref();
  }

  /**
   * Takes up orders that this process has not seen: old and unfinished ones at a start, and those that it missed while
   * the bus was away.
   */
  catchUp(): void {
    void this.look();
  }

  /** Resolves when all present orders are carried out. */
  async settle(): Promise<void> {
    await this.look();
    await Promise.all(this.underWay);
  }

  /** Resolves when the runs are hidden. Orders are given one after the other. */
  order(order: DeletionOrder): Promise<Receipt> {
    const mine = this.turn.then(() => this.give(order));
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  async close(): Promise<void> {
    this.closing = true;
    clearInterval(this.timer);
    for (const resolve of this.awaited.values()) resolve();
    await Promise.allSettled(this.underWay);
  }

  private async give(order: DeletionOrder): Promise<Receipt> {
    const { collector, link } = this;
    const fact = await this.toFact(order);
    this.seen.add(fact.orderId);
    const parted = await this.toParted(order);
    const receipt = await collector.change([...toChanges(fact, order), ...parted], order.workspace, order.author);
    const carried = collector.queryable(receipt.position).then(async () => {
      link?.bus.tell("deleted", fact.orderId);
      await this.carryOut(fact, true);
    });
    this.follow(carried);
    return receipt;
  }

  /** Undoes the joins to the runs. */
  private async toParted({ workspace, runs, author }: DeletionOrder): Promise<StateChange[]> {
    const joins = await readJoins(this.collector.store, { workspace, runs: runs.map(({ runId }) => runId) });
    return joins.map((row) => ({
      table: "joins",
      row: { ...row, parted: 1, author, version: laterThan(row.version) },
    }));
  }

  private async toFact(order: DeletionOrder): Promise<DeletionFact> {
    const { workspace } = order;
    const { store } = this.collector;
    const { positions, keys } = await this.findWhat(order);
    const [groups, aliases, covered] = await Promise.all([
      readGroupRows(store, "groups", keys),
      readGroupRows(store, "aliases", keys),
      this.findCovered(keys, positions, order.beforeNs),
    ]);
    const atNs = nowNs();
    // It must override rows of collectors whose clocks are ahead.
    const version = groups.reduce((most, row) => (row.version < most ? most : row.version + 1n), atNs);
    return {
      orderId: randomUUID(),
      workspace,
      atNs,
      groups,
      aliases,
      covered: Object.fromEntries(covered),
      isDone: false,
      version,
    };
  }

  /**
   * A new order covers the journals up to now, and the groups that the runs have now. For an order by age, everything
   * it covers is stored.
   */
  private async findWhat({ workspace, runs, beforeNs }: DeletionOrder) {
    const named = runs.flatMap(({ groupKeys }) => groupKeys);
    if (beforeNs !== undefined) return { positions: [], keys: named };
    const positions = await this.askPositions();
    const ids = runs.map(({ runId }) => runId);
    const now = await readGroupsOfRuns(this.collector.store, workspace, ids);
    return { positions, keys: [...new Set([...named, ...now.map(({ groupKey }) => groupKey)])] };
  }

  /** The positions of this collector's journal and of those that are heard. */
  private async askPositions(): Promise<[string, number][]> {
    const { collector, link } = this;
    const others = link?.peers.list() ?? [];
    return Promise.all([
      ...others.map(async (peer): Promise<[string, number]> => [peer.id, await this.askPosition(peer)]),
      this.settlePosition().then((position): [string, number] => [collector.id, position]),
    ]);
  }

  /**
   * The position to delete up to, by collector: the last accepted record of those that answered, the last stored one of
   * the others.
   */
  private async findCovered(
    keys: readonly string[],
    positions: readonly [string, number][],
    beforeNs?: bigint,
  ): Promise<Map<string, number>> {
    const stored = await readGroupPositions(this.collector.store, keys, beforeNs);
    const covered = new Map([...stored].filter(([name]) => name !== ""));
    for (const [name, position] of positions) covered.set(name, Math.max(position, covered.get(name) ?? 0));
    return covered;
  }

  private async askPosition({ id, applied }: Peer): Promise<number> {
    const answer = this.link?.bus.ask(id, "position", {}, positionMs);
    return (await answer?.catch(() => applied)) as number;
  }

  /** What this collector has accepted by now. */
  private async settlePosition(): Promise<number> {
    const { sequencer } = this.collector;
    const { durable } = sequencer.position;
    const stored = this.collector.drained().catch(() => undefined);
    await Promise.race([stored, sleep(storeMs, undefined, { ref: false })]);
    return durable;
  }

  private async hear(orderId: string): Promise<void> {
    const { collector } = this;
    try {
      for (const fact of await readOrders(collector.store, { orderId })) this.take(fact);
    } catch (cause) {
      collector.tell("An order to delete runs could not be read; trying again.", cause);
    }
  }

  private async lookNowAndThen(): Promise<void> {
    const isConnected = this.link?.bus.isConnected === true;
    if (!isConnected || this.looks++ % looksWhileConnected === 0) await this.look();
  }

  private async look(): Promise<void> {
    if (this.closing) return;
    const { collector } = this;
    try {
      const now = nowNs();
      const { lookedNs } = this;
      // The store may have been away for longer than the window, and a clock may have been set back.
      const fromNs = lookedNs === null ? now - startWindowNs : (lookedNs < now ? lookedNs : now) - windowNs;
      for (const fact of await readOrders(collector.store, { sinceNs: fromNs })) this.take(fact);
      this.lookedNs = now;
    } catch (cause) {
      if (!this.closing) collector.tell("Orders to delete runs could not be read; trying again.", cause);
    }
  }

  private take(fact: DeletionFact): void {
    if (this.seen.has(fact.orderId)) return;
    this.seen.add(fact.orderId);
    this.follow(this.carryOut(fact, false));
  }

  private follow(work: Promise<void>): void {
    this.underWay.add(work);
    work
      .catch((cause) => {
        if (!this.closing) this.collector.tell("The next start will finish a deletion.", cause);
      })
      .finally(() => this.underWay.delete(work));
  }

  /**
   * What this collector accepted before the order is stored first, so that it can be removed. From then on, records of
   * these groups wait until the rows are gone; everything else goes on.
   */
  private async carryOut(fact: DeletionFact, isOwn: boolean): Promise<void> {
    const { collector } = this;
    const covered = fact.covered[collector.id] ?? 0;
    const isLate = collector.writer.stored < covered;
    if (isLate) await collector.writer.storedUpTo(covered);
    const removed = this.remove(fact, isOwn, isLate);
    collector.removals.begin(
      fact.groups.map(({ workspace, run_id: runId }) => ({ workspace, runId })),
      removed,
    );
    await leave(collector.applier, keysOf(fact), removed);
  }

  /** False if the process ends first: the next start reads the order again. */
  private async remove(fact: DeletionFact, isOwn: boolean, isLate: boolean): Promise<boolean> {
    const { collector, link } = this;
    const { store, blobs } = collector;
    const isDone = fact.isDone || (!isOwn && (await this.isRemovedElsewhere(fact)));
    if (isDone && !isLate)
      return this.untilTaken(async () => {
        await collector.queryable(collector.sequencer.position.applied);
        await reviveLeft(store, fact);
      });
    const isTaken = await this.untilTaken(async () => {
      await removeCovered(store, blobs, fact);
      if (!fact.isDone) await noteDone(store, fact);
    });
    if (isTaken) link?.bus.tell("removed", fact.orderId);
    return isTaken;
  }

  private async isRemovedElsewhere({ orderId }: DeletionFact): Promise<boolean> {
    if (this.link?.bus.isConnected !== true) return false;
    const told = Promise.withResolvers<boolean>();
    this.awaited.set(orderId, () => told.resolve(true));
    const isTold = await Promise.race([told.promise, sleep(patienceMs, false, { ref: false })]);
    this.awaited.delete(orderId);
    return isTold;
  }

  private untilTaken(work: () => Promise<void>): Promise<boolean> {
    return untilTaken(this.collector, () => this.closing, work);
  }
}

function laterThan(version: bigint): bigint {
  const now = nowNs();
  return version < now ? now : version + 1n;
}

/** Hides the groups, and tells the audit. */
function toChanges(fact: DeletionFact, { runs, author }: DeletionOrder): StateChange[] {
  const { workspace, atNs, version } = fact;
  const hidden = fact.groups.map(
    (row): StateChange => ({ table: "groups", row: { ...row, protocol: "deleted", deleted_ns: atNs, version } }),
  );
  const audits = runs.map(({ runId }, at): StateChange => {
    const line = { workspace, at_ns: atNs + BigInt(at), author, action: "run_deleted", subject: runId };
    return { table: "audit", row: { ...line, detail: "{}", version: atNs } };
  });
  return [toDeletionChange(fact), ...hidden, ...audits];
}
