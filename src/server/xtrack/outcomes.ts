// What a chunk of decoded events tells its connection: who speaks, what they ask for, and which acks they get.

import type { EventColumns } from "#wire/xtrack/event-columns.ts";
import type { DecodedXtrack } from "#wire/xtrack/stream.ts";
import type { EventOutcome } from "./ports.ts";

export interface Speaker {
  readonly runId: string;
  readonly wid: string;
}

/** Every (run, worker) of the events from `first` on, without acks and commands, which may come without a run. */
export function findSpeakers(columns: EventColumns, first: number): Speaker[] {
  const { run, worker, type } = columns;
  if (columns.length === first) return [];
  if (columns.length === first + 1 && columns.control.length === 0)
    return [{ runId: run.at(first), wid: worker.at(first) }];
  const controls = new Set(["ack", "command"].map((name) => type.keys.indexOf(name)));
  if (run.keys.length === 1 && worker.keys.length === 1 && columns.control.length === 0)
    return [{ runId: run.keys[0] as string, wid: worker.keys[0] as string }];
  const found = new Map<number, Speaker>();
  for (let event = first; event < columns.length; event++) {
    const key = (run.codes[event] as number) * worker.keys.length + (worker.codes[event] as number);
    if (found.has(key) || controls.has(type.codes[event] as number)) continue;
    found.set(key, { runId: run.at(event), wid: worker.at(event) });
  }
  return [...found.values()];
}

/** The first event, from `first` on, that asks for `what`; undefined if none does. */
export function findAsk(columns: EventColumns, what: "ack" | "command", first: number): number | undefined {
  // Both lists are in the order of the events.
  const start = columns.starts.find(({ event, accepts }) => event >= first && accepts.includes(what))?.event;
  const control = columns.control.find(({ event }) => event >= first)?.event;
  return start === undefined || control === undefined ? (start ?? control) : Math.min(start, control);
}

/**
 * One outcome for each event from `first` on, and for each refused frame from `firstFault` on whose number could be
 * read.
 */
export function toOutcomes({ columns, faults }: DecodedXtrack, first: number, firstFault: number): EventOutcome[] {
  const outcomes: EventOutcome[] = [];
  const controls = new Set(columns.control.map(({ event }) => event));
  for (let event = first; event < columns.length; event++) {
    if (controls.has(event)) continue;
    const seq = toSeq(columns.seq.at(event));
    outcomes.push({ runId: columns.run.at(event), wid: columns.worker.at(event), seq, error: null });
  }
  for (const { fault, run, worker, seq } of faults.slice(firstFault))
    if (seq !== undefined) outcomes.push({ runId: run, wid: worker, seq, error: fault.detail });
  return outcomes;
}

function toSeq(seq: bigint): number | bigint {
  return seq <= Number.MAX_SAFE_INTEGER ? Number(seq) : seq;
}
