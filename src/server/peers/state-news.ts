// Changes of the small state between collectors. Steps of commands are told as they are applied, because a worker waits
// for them. Of everything else the bus only says that it changed, once the store has it, and the others read it there:
// whoever can send messages has no say in which keys are valid.

import type { Bus } from "#bus/bus.ts";
import { type CommandStep, fromCommandRow } from "#control/command.ts";
import { decodeChanges, encodeChanges } from "#intake/changes.ts";
import type { AppliedInput } from "#intake/sequencer.ts";
import type { StateChange, StateTable } from "#model/state-tables.ts";
import type { Collector } from "#server/collector/collector.ts";
import { readCommandSteps } from "#server/collector/commands.ts";
import type { NeighbourParts } from "./neighbours.ts";

/** Tables that others read again when they changed. */
const readAgain: ReadonlySet<StateTable> = new Set(["keys"]);
/** As many steps as surely fit one message: a payload has at most 64 KiB. */
const stepsAtOnce = 8;

export class StateNews {
  private readonly bus: Bus;
  private readonly collector: Collector;
  private readonly onTrouble: (message: string, cause: unknown) => void;
  private parts: NeighbourParts | null = null;
  /** Tables that changed, and the journal position after which the store has it. */
  private readonly changed = new Map<StateTable, number>();
  private reading: Promise<void> = Promise.resolve();
  private closing = false;

  constructor(bus: Bus, collector: Collector, onTrouble: (message: string, cause: unknown) => void) {
    this.bus = bus;
    this.collector = collector;
    this.onTrouble = onTrouble;
  }

  start(parts: NeighbourParts): void {
    this.parts = parts;
    this.collector.onApplied((entry) => this.tell(entry));
    this.collector.onStored((to) => this.tellStored(to));
    this.bus.hear("commands", (body) => parts.control.fold(toSteps(decodeChanges(Buffer.from(body as string)))));
    this.bus.hear("changed", (body) => {
      if ((body as StateTable[]).includes("keys")) this.read("keys", () => parts.keys.reload());
    });
  }

  /** Reads what the bus may not have brought. */
  catchUp(): void {
    const { parts, collector } = this;
    if (parts === null) return;
    this.read("keys", () => parts.keys.reload());
    this.read("commands", async () => parts.control.fold(await readCommandSteps(collector.store)));
  }

  async close(): Promise<void> {
    this.closing = true;
    await this.reading;
  }

  private tell({ position, applied }: AppliedInput): void {
    const steps = applied.state.filter(({ table }) => table === "commands");
    for (let at = 0; at < steps.length; at += stepsAtOnce) {
      const part = encodeChanges(steps.slice(at, at + stepsAtOnce));
      this.bus.tell("commands", Buffer.from(part).toString());
    }
    for (const { table } of applied.state) if (readAgain.has(table)) this.changed.set(table, position);
  }

  private tellStored(to: number): void {
    const tables = [...this.changed].flatMap(([table, position]) => (position <= to ? [table] : []));
    for (const table of tables) this.changed.delete(table);
    if (tables.length > 0) this.bus.tell("changed", tables);
  }

  /** One after the other; a store that is away is asked again at the next occasion. */
  private read(what: string, task: () => Promise<void>): void {
    this.reading = this.reading.then(async () => {
      if (this.closing) return;
      await task().catch((cause) => this.onTrouble(`What other collectors changed could not be read: ${what}.`, cause));
    });
  }
}

function toSteps(changes: readonly StateChange[]): CommandStep[] {
  return changes.flatMap((change) => (change.table === "commands" ? (fromCommandRow(change.row) ?? []) : []));
}
