// Gathers small inputs that became durable together into one batch. For a batch of a span or two, the writer, the live hub and
// every listener cost fifty times what the rows do, and so does the memory of its own columns. So the inputs of one sync
// of the journal share one set of columns before they are passed on. Each input keeps its place in its rows (`jpos`), its
// counts and its answer: its sender is told the same, whatever else came with it.

import { appendRows } from "#model/append-rows.ts";
import type { AnyTablePart, Batch } from "#model/batch.ts";
import type { Fault } from "#model/fault.ts";
import type { StateChange } from "#model/state-tables.ts";
import { type FactTable, reuseRows, rowsBytes } from "#model/tables.ts";
import type { Applied } from "./applied.ts";
import { changeInputs } from "./changes.ts";
import type { Input } from "./input.ts";
import { refusedInputs } from "./refused.ts";

export interface AppliedInput {
  /** The last journal record in it. */
  readonly position: number;
  /** The last of the inputs, which are all of one kind and workspace. */
  readonly input: Input;
  /** Of all of them. */
  readonly applied: Applied;
  readonly batch: Batch;
}

/** An input that was applied. `tell` is called when it has been passed on. */
export interface GatheredInput {
  readonly position: number;
  readonly input: Input;
  readonly applied: Applied;
  tell(): void;
}

interface Open {
  readonly parts: AnyTablePart[];
  /** Of each table, the part whose columns take more rows. */
  readonly growing: Map<FactTable, AnyTablePart>;
  readonly state: StateChange[];
  readonly faults: Fault[];
  readonly members: GatheredInput[];
  accepted: number;
  duplicates: number;
}

/** Copying the rows of a larger input costs more than it saves. */
const smallRowsMax = 128;
/** The first input does not wait for more than this many. */
const membersMax = 256;

export interface GatheringHooks {
  onApplied(applied: AppliedInput): void;
  /** What was applied could not be passed on: a bug. */
  onFatal(cause: unknown): void;
}

export class Gathering {
  private readonly hooks: GatheringHooks;
  private open: Open | null = null;

  constructor(hooks: GatheringHooks) {
    this.hooks = hooks;
  }

  /** In the order of the journal. */
  add(member: GatheredInput): void {
    const { open } = this;
    const first = open?.members[0];
    if (open === null || first === undefined || !fits(first.input, member) || open.members.length >= membersMax) {
      this.flush();
      this.begin(member);
      return;
    }
    open.members.push(member);
    const { parts, state, accepted, duplicates, faults } = member.applied;
    for (const part of parts) addPart(open, part);
    for (const change of state) open.state.push(change);
    for (const fault of faults) open.faults.push(fault);
    open.accepted += accepted;
    open.duplicates += duplicates;
  }

  /** Passes on what was gathered. */
  flush(): void {
    const { open } = this;
    if (open === null) return;
    this.open = null;
    const { members, parts, state, faults, accepted, duplicates } = open;
    const [{ position: first }] = members as [GatheredInput];
    const { position, input } = members.at(-1) as GatheredInput;
    const applied = { parts, state, accepted, duplicates, faults };
    this.hooks.onApplied({ position, input, applied, batch: toBatch(first, position, applied) });
    for (const member of members) member.tell();
  }

  private begin(member: GatheredInput): void {
    const { parts, state, faults, accepted, duplicates } = member.applied;
    this.open = {
      parts: [...parts],
      growing: new Map(parts.flatMap((part) => (part.dropped === null ? [[part.table, part]] : []))),
      state: [...state],
      faults: [...faults],
      members: [member],
      accepted,
      duplicates,
    };
    if (!mayShare(member)) this.flush();
    // All inputs of the sync are applied before this runs: their microtasks are queued already.
    else queueMicrotask(() => this.flushLater());
  }

  private flushLater(): void {
    try {
      this.flush();
    } catch (cause) {
      this.hooks.onFatal(cause);
    }
  }
}

function addPart({ parts, growing }: Open, part: AnyTablePart): void {
  const { table, rows, dropped } = part;
  const into = growing.get(table);
  if (into !== undefined) {
    appendRows(table, into.rows, rows, dropped);
    reuseRows(table, rows);
  } else {
    parts.push(part);
    if (dropped === null) growing.set(table, part);
  }
}

/** Changes of the small state are passed on alone, and so are refusals, which may be of any protocol. */
const toldAlone: ReadonlySet<string> = new Set([changeInputs.kind, refusedInputs.kind]);

function mayShare({ input, applied }: GatheredInput): boolean {
  let rows = 0;
  for (const part of applied.parts) rows += part.rows.group_key.length;
  return rows <= smallRowsMax && !toldAlone.has(input.kind);
}

function fits({ kind, workspace, imported }: Input, member: GatheredInput): boolean {
  const { input } = member;
  return input.kind === kind && input.workspace === workspace && input.imported === imported && mayShare(member);
}

function toBatch(first: number, position: number, { parts, state }: Applied): Batch {
  let bytes = state.length * stateBytes;
  for (const { rows } of parts) bytes += rowsBytes(rows);
  return { first, position, parts, state, bytes };
}

/** Roughly how much memory a change of the small tables takes. */
const stateBytes = 400;
