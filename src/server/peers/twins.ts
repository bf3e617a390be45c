// Two processes with one collector id: a data folder was copied while its collector ran. They would count journal positions
// under one id, so the later process must not go on. A question under its own id can only be answered by a twin.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "#bus/bus.ts";

interface Start {
  readonly epoch: string;
  /** By the clock of its machine. */
  readonly atMs: number;
}

const answerMs = 1000;
/** A start waits this long for a bus that does not answer. */
const introduceMs = 1000;

export class TwinWatch {
  private readonly bus: Bus;
  private readonly own: Start = { epoch: randomUUID(), atMs: Date.now() };
  private readonly onTwin: () => void;
  private readonly looked = Promise.withResolvers<void>();

  constructor(bus: Bus, onTwin: () => void) {
    this.bus = bus;
    this.onTwin = onTwin;
    bus.answer("twin", () => this.own);
  }

  /** Whenever the bus is connected. */
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
