// How the rows of a batch become known: each is tied to what its ids are tied to already. New rows are taken; known rows are
// refused, as duplicates or as conflicts.

import type { StringColumn } from "#base/columns.ts";
import { JsonCursor, jsonKind } from "#base/json/cursor.ts";
import { parseJson } from "#base/json/parse.ts";
import { decodeText } from "#base/json/text.ts";
import type { JsonValue } from "#base/json/value.ts";
import { hashRows } from "#intake/content-hash.ts";
import type { Fault } from "#model/fault.ts";
import { createRows, type Rows } from "#model/tables.ts";
import type { Awaited, AwaitedParents } from "./awaited.ts";
import { noteRowTimes, noteSpans } from "./batch-facts.ts";
import type { Component } from "./component.ts";
import type { ComponentSet } from "./component-set.ts";
import { type RecentRows, saltId } from "./recent-rows.ts";
import { isRepeated, isRootWord, loadId, pushStoredKey, timeAt } from "./row-ids.ts";
import { type CirronRows, contentColumns, idsOf } from "./rows.ts";
import { type Stretch, stretchesOf, tables } from "./stretches.ts";

/** Few batches begin with rows without a parent, and then with few of them. */
const lookedAtRows = 8;

/** A row that is known without its content. */
export const unknownHash = 1;

export interface Taken {
  component: number;
  accepted: number;
  duplicates: number;
  readonly faults: Fault[];
  readonly dropped: { -readonly [T in keyof CirronRows]: Uint8Array | null };
  readonly ids: Rows<"cirron_ids">;
}

export class RowTaker {
  private readonly recent: RecentRows;
  private readonly components: ComponentSet;
  private readonly awaited: AwaitedParents;

  constructor(recent: RecentRows, components: ComponentSet, awaited: AwaitedParents) {
    this.recent = recent;
    this.components = components;
    this.awaited = awaited;
  }

  /**
   * The component that the rows are tied to by the first span that they name; undefined when that is new. Nearly every batch
   * continues the one before it, and making a new component only to merge it would cost more than the rows.
   */
  ownerOf({ spans, marks, snapshots }: CirronRows): number | undefined {
    const { inner, nulls } = spans.parent_id;
    for (let row = 0; row < Math.min(inner.length, lookedAtRows); row++)
      if (nulls.values[row] === 0) return this.ownerOfSpan(inner, row);
    for (const { span_id: ids } of [marks, snapshots])
      if (ids.length > 0 && !isRootWord(ids, 0)) return this.ownerOfSpan(ids, 0);
    return undefined;
  }

  private ownerOfSpan(ids: StringColumn, row: number): number | undefined {
    loadId(ids, row);
    const entry = this.recent.find();
    if (entry < 0) return undefined;
    const owner = this.components.find(this.recent.ownerOf(entry));
    return this.components.has(owner) ? owner : undefined;
  }

  /** Takes the rows of a batch into a component and whatever they tie it to, some rows per step. */
  *take(rows: CirronRows, start: number): Generator<void, Taken> {
    const taken = startTaking(start);
    yield* hashContents(rows);
    for (const table of tables) {
      if (rows[table].span_id.length === 0) continue;
      for (const stretch of stretchesOf(rows, table)) {
        this.takeSome(rows, stretch, taken);
        yield;
      }
      yield* this.endTable(rows, table, taken);
      yield;
    }
    return taken;
  }

  private takeSome(rows: CirronRows, { table, from, to }: Stretch, taken: Taken): void {
    if (table === "spans") this.takeSpans(rows, from, to, taken);
    else this.takeLeaves(rows, table, from, to, taken);
  }

  /** Notes the facts of all rows that were taken. */
  private *endTable(rows: CirronRows, table: keyof CirronRows, taken: Taken): Generator<void, void> {
    const component = this.components.get(taken.component);
    if (table === "spans") {
      yield* noteSpans(component, rows.spans, taken.dropped.spans);
      return;
    }
    const { ts_ns } = rows[table];
    noteRowTimes(component, { starts: ts_ns, ends: ts_ns, ids: idsOf(rows, table) }, taken.dropped[table]);
  }

  private takeSpans(rows: CirronRows, from: number, to: number, taken: Taken): void {
    const { spans } = rows;
    const { recent } = this;
    const { span_id: ids, parent_id, name, start_ns, end_ns } = spans;
    const sessionCode = name.keys.indexOf("cirron.session");
    const epochCode = name.keys.indexOf("epoch");
    const { values: hashes } = spans.content_hash;
    for (let row = from, parent = -1; row < to; row++) {
      const hash = hashes[row] as number;
      const start = timeAt(start_ns, row);
      const end = timeAt(end_ns, row);
      const entry = this.tie(ids, row, -1, start, end, taken);
      const isNew = !recent.isArrived(entry);
      const before = isNew ? this.awaited.rootOf(recent.leadOf(entry)) : undefined;
      if (isNew) taken.accepted++;
      else this.refuse(taken, "spans", row, ids.length, hash, recent.hashOf(entry), ids.at(row));
      let lead: Awaited | undefined;
      if (parent_id.nulls.values[row] === 0) {
        parent = this.tie(parent_id.inner, row, parent, start, end, taken);
        if (isNew) lead = this.link(parent, parent_id.inner, row, name.codes[row] === epochCode, entry, taken);
      }
      if (isNew) {
        recent.arrive(entry, hash, lead?.number ?? 0, start, end);
        this.resolve(before, lead, taken);
      }
      if (isNew && sessionCode >= 0 && name.codes[row] === sessionCode)
        noteSessionSpan(this.components.get(taken.component), spans, row);
    }
  }

  /** What a span leads to through its parent. The parent is awaited from now on, unless it has arrived. */
  private link(
    parent: number,
    ids: StringColumn,
    row: number,
    childIsEpoch: boolean,
    child: number,
    taken: Taken,
  ): Awaited | undefined {
    const { recent } = this;
    if (parent === child) return undefined;
    let lead = this.awaited.rootOf(recent.leadOf(parent));
    if (!recent.isArrived(parent) && lead === undefined) {
      const id = ids.at(row);
      lead = this.awaited.add(recent.generation, { id, hasEpochChild: false, leads: 0 });
      recent.setLead(parent, lead.number);
      this.components.get(taken.component).unresolved.set(id, lead);
    }
    if (childIsEpoch && lead !== undefined && !recent.isArrived(parent)) lead.hasEpochChild = true;
    return lead;
  }

  /** A span arrived: it may have been awaited, and it may lead to another that is. */
  private resolve(before: Awaited | undefined, lead: Awaited | undefined, taken: Taken): void {
    if (before !== undefined) {
      this.components.get(taken.component).unresolved.delete(before.id);
      before.leads++;
      this.awaited.resolve(before, lead, this.recent.generation);
    } else if (lead !== undefined) lead.leads++;
  }

  private takeLeaves(rows: CirronRows, table: "marks" | "snapshots", from: number, to: number, taken: Taken): void {
    const { recent } = this;
    const ids = idsOf(rows, table);
    const kind = table === "marks" ? "mark" : "snapshot";
    const { span_id: owners, ts_ns, content_hash } = rows[table];
    const { values: hashes } = content_hash;
    for (let row = from, span = -1; row < to; row++) {
      const hash = hashes[row] as number;
      const time = timeAt(ts_ns, row);
      if (!isRootWord(owners, row)) span = this.tie(owners, row, span, time, time, taken);
      loadId(ids, row);
      saltId(kind);
      const entry = this.findOwned(time, taken);
      if (entry < 0) {
        recent.add(taken.component, hash, 0, time, time);
        pushStoredKey(taken.ids, time);
      } else if (!recent.isArrived(entry)) recent.arrive(entry, hash, 0, time, time);
      else {
        taken.component = this.components.union(taken.component, recent.ownerOf(entry));
        this.refuse(taken, table, row, ids.length, hash, recent.hashOf(entry), ids.at(row));
        continue;
      }
      taken.accepted++;
    }
  }

  /**
   * The entry of a span id; ties this batch to whatever the id is already tied to. `before` is the entry of the row before,
   * or -1: siblings are adjacent, and comparing their parents' ids takes a fifth of the time of a look-up.
   */
  private tie(ids: StringColumn, row: number, before: number, start: number, end: number, taken: Taken): number {
    if (before >= 0 && isRepeated(ids, row)) return before;
    loadId(ids, row);
    const entry = this.findOwned(start, taken);
    if (entry < 0) {
      pushStoredKey(taken.ids, start);
      return this.recent.add(taken.component, 0, 0, start, end);
    }
    const owner = this.recent.ownerOf(entry);
    if (owner !== taken.component) taken.component = this.components.union(taken.component, owner);
    return entry;
  }

  /** The entry of the id in `idWords`. If its component was deleted, this batch takes the entry over. */
  private findOwned(time: number, taken: Taken): number {
    const entry = this.recent.find();
    if (entry < 0 || this.components.has(this.recent.ownerOf(entry))) return entry;
    this.recent.disown(entry, taken.component);
    pushStoredKey(taken.ids, time);
    return entry;
  }

  private refuse(
    taken: Taken,
    table: keyof CirronRows,
    row: number,
    count: number,
    hash: number,
    knownHash: number,
    id: string,
  ): void {
    const dropped = taken.dropped[table] ?? new Uint8Array(count);
    dropped[row] = 1;
    taken.dropped[table] = dropped;
    if (hash === knownHash || knownHash === unknownHash) taken.duplicates++;
    else taken.faults.push(conflict(table, id, row));
  }
}

function startTaking(component: number): Taken {
  return {
    component,
    accepted: 0,
    duplicates: 0,
    faults: [],
    dropped: { spans: null, marks: null, snapshots: null },
    ids: createRows("cirron_ids"),
  };
}

/** Fills in the hashes of rows. Stored rows already have theirs. */
export function* hashContents(rows: CirronRows): Generator<void, void> {
  for (const table of tables) {
    const { content_hash: column, span_id } = rows[table];
    if (column.length >= span_id.length) continue;
    const values = yield* hashRows(contentColumns(rows, table), span_id.length);
    column.append({ values }, column.length, values.length);
  }
}

function conflict(table: keyof CirronRows, id: string, row: number): Fault {
  return {
    code: "identity_conflict",
    detail: `${table}[${row}] has the id ${id}, which is known with other content; the first one is kept.`,
    place: { pointer: `/${table}/${row}` },
    raw: new Uint8Array(0),
  };
}

// The `cirron.session` span: what it says about its process.

function noteSessionSpan(component: Component, spans: Rows<"spans">, row: number): void {
  const id = spans.span_id.at(row);
  const attrs = attrsOf(spans, row);
  component.sessions.set(id, {
    id,
    startNs: spans.start_ns.at(row),
    endNs: spans.end_ns.at(row),
    runId: textOf(attrs.get("cirron.run_id")),
    pipelineId: textOf(attrs.get("cirron.pipeline_id")),
    deploymentId: textOf(attrs.get("cirron.deployment_id")),
    modelId: textOf(attrs.get("cirron.model_id")),
  });
}

const ownNames = new Set(["run_id", "pipeline_id", "deployment_id", "model_id"].map((name) => `cirron.${name}`));

/** Only the attributes that are needed become values: a session span may have megabytes of others. */
function attrsOf(spans: Rows<"spans">, row: number): Map<string, JsonValue> {
  const attrs = new Map<string, JsonValue>();
  const cursor = new JsonCursor(spans.attrs.bytesAt(row));
  if (cursor.peek() !== jsonKind.object) return attrs;
  for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
    const name = decodeText(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide);
    cursor.skipBlanks();
    const from = cursor.pos;
    cursor.skipValue();
    const parsed = ownNames.has(name) ? parseJson(cursor.bytes.subarray(from, cursor.pos)) : null;
    if (parsed?.ok) attrs.set(name, parsed.value);
  }
  return attrs;
}

function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === "string") return value === "" ? null : value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : null;
}
