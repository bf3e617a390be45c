// The lines of a chunk as rows, filled while they are read. What only the journal and the state know is added when the chunk
// is applied: where the rows arrived, and which of them are copies.

import { ByteWriter } from "#base/byte-writer.ts";
import { UInt32Column } from "#base/columns.ts";
import type { OnMember } from "#base/json/format-sorted.ts";
import { lookThrough } from "#base/json/look-through.ts";
import { lossyOddities } from "#base/json/strict.ts";
import type { ArrivedAt } from "#intake/input.ts";
import type { AnyTablePart } from "#model/batch.ts";
import type { GroupKey } from "#model/group-key.ts";
import { createRows, type Rows } from "#model/tables.ts";
import { longLineBytes, type TakenLine } from "#wire/semantiva/decode-lines.ts";
import { isLifecycleType, type Keys, toKeys } from "./keys.ts";
import { pushEvent, pushLifecycle, pushNode, readContext, toParams } from "./rows.ts";

/** Room for the text of events at first. For nodes, which most lines are, there is room for the whole body. */
const eventBytesFirst = 64 * 1024;

export class LineRows {
  /** The groups of the lines, in the order of their first line. */
  readonly groups: Keys[] = [];
  /** For each line, the first four words of its digest. */
  readonly identities = new UInt32Column();
  /** For each line, its place among `groups`. */
  readonly groupOf = new UInt32Column();
  /** For each line, its place in the chunk. */
  readonly places = new UInt32Column();
  private readonly workspace: string;
  private readonly bodyBytes: number;
  private readonly groupAt = new Map<GroupKey, number>();
  private readonly scratch = new ByteWriter(0);
  private lastKey: GroupKey | undefined;
  private lastGroup = 0;
  // Made with the first row: most small chunks have rows of one or two tables.
  private events: Rows<"events"> | undefined;
  private nodes: Rows<"nodes"> | undefined;
  private lifecycle: Rows<"lifecycle"> | undefined;
  private params: Rows<"params"> | undefined;

  constructor(workspace: string, bodyBytes: number) {
    this.workspace = workspace;
    this.bodyBytes = bodyBytes;
  }

  /** Null when the line is done; otherwise the rest of the work. */
  take(line: TakenLine): Generator<void, void> | null {
    const keys = toKeys(line.message, this.workspace);
    this.note(line, keys);
    const isLossy = (line.message.oddities & lossyOddities) !== 0;
    if (line.bytes.length > longLineBytes && isLossy) return this.takeLong(line, keys);
    return this.push(line, keys);
  }

  /** Makes the line's strict form with pauses first. */
  private *takeLong(line: TakenLine, keys: Keys): Generator<void, void> {
    yield* lookThrough(line.bytes);
    const rest = this.push(line, keys);
    if (rest !== null) yield* rest;
  }

  private push(line: TakenLine, keys: Keys): Generator<void, void> | null {
    const { type, known } = line.message;
    if (known && type === "ser") {
      this.nodes ??= this.createNodes();
      pushNode(this.nodes, line, keys);
      return null;
    }
    this.events ??= this.createEvents();
    pushEvent(this.events, line, keys);
    return known && isLifecycleType(type) ? this.pushLifecycle(line, keys) : null;
  }

  private *pushLifecycle(line: TakenLine, keys: Keys): Generator<void, void> {
    const context = yield* readContext(line, this.scratch, this.membersInto(line, keys));
    this.lifecycle ??= createRows("lifecycle");
    pushLifecycle(this.lifecycle, line, keys, context);
  }

  /** The context of a run's start also becomes params. */
  private membersInto(line: TakenLine, keys: Keys): OnMember | undefined {
    if (line.message.type !== "pipeline_start") return undefined;
    this.params ??= createRows("params");
    return toParams(this.params, line, keys);
  }

  private note({ digest, at }: TakenLine, keys: Keys): void {
    for (let from = 0; from < 32; from += 8) this.identities.push(parseWord(digest, from));
    this.places.push(at);
    if (keys.groupKey !== this.lastKey) {
      this.lastKey = keys.groupKey;
      this.lastGroup = this.groupAt.get(keys.groupKey) ?? this.addGroup(keys);
    }
    this.groupOf.push(this.lastGroup);
  }

  private addGroup(keys: Keys): number {
    this.groupAt.set(keys.groupKey, this.groups.length);
    return this.groups.push(keys) - 1;
  }

  private createNodes(): Rows<"nodes"> {
    const rows = createRows("nodes");
    rows.payload.reserve(0, this.bodyBytes);
    return rows;
  }

  private createEvents(): Rows<"events"> {
    const rows = createRows("events");
    rows.payload.reserve(0, Math.min(this.bodyBytes, eventBytesFirst));
    return rows;
  }

  /** Hands over the rows. `copies` has a 1 at the place of each line that is a copy; null when there are none. */
  toParts(meta: ArrivedAt, copies: Uint8Array | null): AnyTablePart[] {
    const parts: AnyTablePart[] = [];
    const { events, nodes, lifecycle, params } = this;
    if (events !== undefined) parts.push({ table: "events", rows: events, dropped: toDropped(events, copies) });
    if (nodes !== undefined) parts.push({ table: "nodes", rows: nodes, dropped: toDropped(nodes, copies) });
    if (lifecycle !== undefined)
      parts.push({ table: "lifecycle", rows: lifecycle, dropped: toDropped(lifecycle, copies) });
    if (params !== undefined) parts.push({ table: "params", rows: params, dropped: toDropped(params, copies) });
    for (const { rows } of parts) stamp(rows as AnyRows, meta);
    for (const column of [this.identities, this.groupOf, this.places]) column.release();
    return parts.filter(({ rows, dropped }) => (dropped === null ? rows.group_key.length > 0 : dropped.includes(0)));
  }
}

type AnyRows = Rows<"events"> | Rows<"nodes"> | Rows<"lifecycle"> | Rows<"params">;

function toDropped({ jrow }: AnyRows, copies: Uint8Array | null): Uint8Array | null {
  if (copies === null) return null;
  const dropped = Uint8Array.from({ length: jrow.length }, (_, row) => copies[jrow.at(row)] as number);
  return dropped.includes(1) ? dropped : null;
}

function stamp(rows: AnyRows, { receivedNs, position }: ArrivedAt): void {
  const count = rows.jrow.length;
  rows.received_ns.padTo(count, receivedNs);
  rows.jpos.padTo(count, BigInt(position));
}

const hexValue = new Int8Array(128);
for (let digit = 0; digit < 16; digit++) hexValue[digit.toString(16).charCodeAt(0)] = digit;

/** Eight hex digits. */
function parseWord(text: string, from: number): number {
  let value = 0;
  for (let at = from; at < from + 8; at++) value = (value << 4) | (hexValue[text.charCodeAt(at)] as number);
  return value;
}
