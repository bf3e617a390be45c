// Deleting runs when several collectors write. What comes after an order must not be removed with what came before it,
// so while one collector removes rows the others accept but apply nothing: each is asked to hold, first stores what it
// has applied, and goes on with a fresh memory when it is told. Without the bus nobody can be asked, and the order is
// refused.

import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "#api/refusal.ts";
import type { Bus } from "#bus/bus.ts";
import type { Peers } from "#bus/peers.ts";
import type { Receipt } from "#intake/sequencer.ts";
import type { Collector } from "#server/collector/collector.ts";
import { type DeletionOrder, orderDeletion, removeHidden } from "#server/collector/deletion.ts";

const holdMs = 10_000;
/** A collector that deletes and is not heard of for so long has failed; whoever waits for it finishes its work. */
const patienceMs = 120_000;
const attemptsMax = 5;
const retryMs = 1000;

export class SharedDeletions {
  private readonly bus: Bus;
  private readonly peers: Peers;
  private readonly collector: Collector;
  private readonly onTrouble: (message: string, cause: unknown) => void;
  /** The collector that this one holds for. */
  private heldFor: string | null = null;
  private patience: NodeJS.Timeout | undefined;
  private isDeleting = false;
  private turn: Promise<unknown> = Promise.resolve();
  private closing = false;

  constructor(bus: Bus, peers: Peers, collector: Collector, onTrouble: (message: string, cause: unknown) => void) {
    this.bus = bus;
    this.peers = peers;
    this.collector = collector;
    this.onTrouble = onTrouble;
    bus.answer("hold", (_body, from) => this.hold(from));
    bus.hear("release", (_body, from) => {
      if (this.heldFor === from) void this.goOn(false);
    });
  }

  /** Resolves when the runs are hidden; one order after the other. */
  order(order: DeletionOrder): Promise<Receipt> {
    const mine = this.turn.then(() => this.carry(order));
    this.turn = mine.catch(() => undefined).then(() => this.collector.applier.state.gone());
    return mine;
  }

  peerWent(id: string): void {
    if (this.heldFor === id) void this.goOn(true);
  }

  close(): void {
    this.closing = true;
    clearTimeout(this.patience);
  }

  private async carry(order: DeletionOrder): Promise<Receipt> {
    await this.collector.applier.free();
    await this.holdOthers();
    const receipt = await orderDeletion(this.collector, order).catch((cause) => {
      this.release();
      throw cause;
    });
    void this.collector.applier.state.gone().then(() => this.release());
    return receipt;
  }

  private async holdOthers(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if (!this.bus.isConnected) throw refuse("the bus is not connected");
      this.isDeleting = true;
      const asked = await Promise.allSettled(this.peers.list().map(({ id }) => this.bus.ask(id, "hold", {}, holdMs)));
      const failed = asked.find((one) => one.status === "rejected");
      if (failed === undefined) return;
      this.release();
      // Two that delete at once refuse each other; whoever asks again first goes first.
      if (attempt === attemptsMax) throw refuse(String((failed.reason as Error).message));
      await sleep(100 + Math.random() * 500);
    }
  }

  private release(): void {
    this.isDeleting = false;
    this.bus.tell("release", {});
  }

  private async hold(from: string): Promise<true> {
    const { applier, sequencer } = this.collector;
    if (this.isDeleting || applier.isHeld) throw new Error("This collector has a deletion of its own.");
    applier.hold();
    this.heldFor = from;
    this.patience = setTimeout(() => void this.goOn(true), patienceMs).unref();
    await this.collector.queryable(sequencer.position.applied);
    return true;
  }

  /** `isOrphan`: the collector that deletes is gone, and what it has hidden may still be there. */
  private async goOn(isOrphan: boolean): Promise<void> {
    clearTimeout(this.patience);
    this.heldFor = null;
    while (!this.closing) {
      try {
        if (isOrphan) await removeHidden(this.collector);
        this.collector.applier.resume();
        return;
      } catch (cause) {
        this.onTrouble("Intake waits for the store after another collector's deletion.", cause);
        await sleep(retryMs);
      }
    }
  }
}

function refuse(why: string): Refusal {
  return new Refusal("deletion_waits", `Runs cannot be deleted now: ${why}.`, {
    hint: "Every collector has to take part. Try again when /readyz of all of them says nothing about the bus.",
  });
}
