// What intake knows about the Cirron rows of one workspace, and how one more batch changes it.
// Everything here is derived: it is rebuilt at start from the stored rows and then from the journal.

import { hashRow } from "#intake/content-hash.ts";
import type { Fault } from "#model/fault.ts";
import type { StateChange } from "#model/state-tables.ts";
import type { Component } from "./component.ts";
import { noteRowTime } from "./component.ts";
import { ComponentSet } from "./component-set.ts";
import { SpanForest } from "./forest.ts";
import { GroupMap } from "./group-map.ts";
import { RowIndex } from "./row-index.ts";
import { type CirronRows, contentColumns } from "./rows.ts";
import { noteSessionSpan } from "./session-span.ts";

/** A batch as the journal holds it, decoded. */
export interface CirronArrival {
  readonly batchId: string;
  /** SHA-256 of the body, hex. */
  readonly contentHash: string;
  readonly rows: CirronRows;
  /** The key or import folder it came from. */
  readonly source: string;
  readonly runOverride: string | null;
  readonly imported: boolean;
  readonly receivedNs: bigint;
}

export interface CirronOutcome {
  readonly groupKey: string;
  readonly dropped: { readonly [T in keyof CirronRows]: Uint8Array | null };
  readonly accepted: number;
  readonly duplicates: number;
  readonly faults: Fault[];
  /** The batch was known: same id and same content. */
  readonly isRepeat: boolean;
  readonly changes: StateChange[];
}

const textEncoder = new TextEncoder();

interface KnownBatch {
  readonly contentHash: string;
  readonly component: number;
}

export class CirronWorkspace {
  readonly components = new ComponentSet();
  private readonly forest = new SpanForest();
  private readonly marks = new RowIndex();
  private readonly snapshots = new RowIndex();
  private spanHashes = new Uint32Array(1024);
  private readonly batches = new Map<string, KnownBatch>();
  private readonly groups: GroupMap;
  private readonly workspace: string;

  constructor(workspace: string, sessionGapNs: bigint) {
    this.workspace = workspace;
    this.groups = new GroupMap(this.components, this.forest, sessionGapNs);
  }

  /** Rows whose ids are held in memory. */
  get size(): number {
    return this.forest.size + this.marks.size + this.snapshots.size;
  }

  apply(arrival: CirronArrival): CirronOutcome {
    const known = this.batches.get(arrival.batchId);
    if (known !== undefined && known.contentHash === arrival.contentHash) return this.repeat(arrival, known);
    const ownKey = `${this.workspace}/c/${arrival.batchId}`;
    const start = this.components.add(this.workspace, ownKey);
    const fresh = this.components.get(start);
    fresh.sources.add(arrival.source);
    if (arrival.runOverride !== null) fresh.runOverrides.add(arrival.runOverride);
    const tie = known === undefined ? start : this.components.union(start, known.component);
    const taken = this.take(arrival.rows, tie);
    const component = this.components.find(taken.component);
    // Tied to an older component, its rows are stored under that one's key and its own is never used.
    if (component !== start) this.components.get(component).groupKeys.delete(ownKey);
    if (taken.duplicates > 0 && known === undefined) this.components.get(component).forked = true;
    this.components.index(component);
    if (known === undefined) this.batches.set(arrival.batchId, { contentHash: arrival.contentHash, component });
    const faults = taken.faults;
    if (known !== undefined && (taken.accepted > 0 || faults.length > 0)) faults.unshift(reusedBatch(arrival.batchId));
    return {
      groupKey: firstKey(this.components.get(component)),
      dropped: taken.dropped,
      accepted: taken.accepted,
      duplicates: taken.duplicates,
      faults,
      isRepeat: false,
      changes: this.groups.update(component, arrival),
    };
  }

  /** Rows that the store already holds, at start: they tie and are known, and change nothing. */
  restore(groupKey: string, rows: CirronRows, batches: readonly StoredBatch[]): void {
    const index = this.components.add(this.workspace, groupKey);
    const component = this.components.get(index);
    for (const batch of batches) {
      component.sources.add(batch.source);
      if (batch.runOverride !== "") component.runOverrides.add(batch.runOverride);
    }
    const taken = this.take(rows, index);
    for (const batch of batches)
      this.batches.set(batch.batchId, { contentHash: batch.contentHash, component: taken.component });
    this.components.index(taken.component);
  }

  /** To be called once after every `restore`: what the stored mapping should say now. */
  finishRestore(receivedNs: bigint): StateChange[] {
    return this.groups.updateAll(receivedNs);
  }

  /** The run of a span id that has arrived or that other rows name. */
  runOfSpan(spanId: string): string | undefined {
    const node = this.forest.find(textEncoder.encode(spanId));
    return node < 0 ? undefined : this.groups.runOf(firstKey(this.components.get(this.forest.ownerOf(node))));
  }

  get map(): GroupMap {
    return this.groups;
  }

  private repeat(arrival: CirronArrival, known: KnownBatch): CirronOutcome {
    const component = this.components.get(known.component);
    component.sources.add(arrival.source);
    if (arrival.runOverride !== null) component.runOverrides.add(arrival.runOverride);
    this.components.index(known.component);
    const { spans, marks, snapshots } = arrival.rows;
    return {
      groupKey: firstKey(component),
      dropped: { spans: null, marks: null, snapshots: null },
      accepted: 0,
      duplicates: spans.span_id.length + marks.mark_id.length + snapshots.snapshot_id.length,
      faults: [],
      isRepeat: true,
      changes: this.groups.update(known.component, arrival),
    };
  }

  private take(rows: CirronRows, start: number): Taken {
    const taken: Taken = {
      component: start,
      accepted: 0,
      duplicates: 0,
      faults: [],
      dropped: { spans: null, marks: null, snapshots: null },
    };
    this.takeSpans(rows, taken);
    this.takeLeaves(rows, "marks", taken);
    this.takeLeaves(rows, "snapshots", taken);
    return taken;
  }

  private takeSpans(rows: CirronRows, taken: Taken): void {
    const { spans } = rows;
    const columns = contentColumns(rows, "spans");
    const sessionCode = spans.name.keys.indexOf("cirron.session");
    const epochCode = spans.name.keys.indexOf("epoch");
    const count = spans.span_id.length;
    for (let row = 0; row < count; row++) {
      const hash = storedHash(spans.content_hash, row) ?? hashRow(columns, row);
      const node = this.tie(spans.span_id.bytesAt(row), taken);
      const isNew = !this.forest.isArrived(node);
      if (isNew) this.forest.arrive(node);
      else this.refuse(taken, "spans", row, count, hash, this.spanHashes[node] as number, spans.span_id.at(row));
      if (spans.content_hash.length < row + 1) spans.content_hash.push(hash);
      const component = this.components.get(taken.component);
      if (!spans.parent_id.isNull(row))
        this.linkParent(rows, row, isNew ? node : -1, spans.name.codes[row] === epochCode, taken);
      if (!isNew) continue;
      this.keepSpanHash(node, hash);
      taken.accepted++;
      component.unresolved.delete(node);
      this.noteSpan(this.components.get(taken.component), rows, row);
      if (spans.name.codes[row] === sessionCode && sessionCode >= 0)
        noteSessionSpan(this.components.get(taken.component), spans, row);
    }
  }

  private linkParent(rows: CirronRows, row: number, node: number, isEpoch: boolean, taken: Taken): void {
    const bytes = rows.spans.parent_id.inner.bytesAt(row);
    const parent = this.tie(bytes, taken);
    if (node < 0) return;
    const isToCome = this.forest.link(node, parent, rows.spans.parent_id.inner.at(row), isEpoch);
    if (isToCome) this.components.get(taken.component).unresolved.add(parent);
  }

  private takeLeaves(rows: CirronRows, table: "marks" | "snapshots", taken: Taken): void {
    const index = this[table];
    const ids = table === "marks" ? rows.marks.mark_id : rows.snapshots.snapshot_id;
    const { span_id, ts_ns, content_hash } = rows[table];
    const columns = contentColumns(rows, table);
    for (let row = 0; row < ids.length; row++) {
      const hash = storedHash(content_hash, row) ?? hashRow(columns, row);
      if (content_hash.length < row + 1) content_hash.push(hash);
      // The literal "root" names no span: it links nothing.
      const owner = span_id.bytesAt(row);
      if (!isRootWord(owner)) this.tie(owner, taken);
      const entry = index.find(ids.bytesAt(row));
      if (entry >= 0) {
        taken.component = this.components.union(taken.component, index.ownerOf(entry));
        this.refuse(taken, table, row, ids.length, hash, index.hashOf(entry), ids.at(row));
        continue;
      }
      index.addLast(hash, taken.component);
      taken.accepted++;
      const ts = ts_ns.at(row);
      noteRowTime(this.components.get(taken.component), ts, ts, ids.at(row));
    }
  }

  /** The node of a span id; ties this batch to whatever the id is already tied to. */
  private tie(bytes: Uint8Array, taken: Taken): number {
    const node = this.forest.node(bytes, taken.component);
    taken.component = this.components.union(taken.component, this.forest.ownerOf(node));
    return node;
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
    if (hash === knownHash || knownHash === 0) taken.duplicates++;
    else taken.faults.push(conflict(table, id, row));
  }

  private noteSpan(component: Component, rows: CirronRows, row: number): void {
    const { spans } = rows;
    component.spans++;
    noteRowTime(component, spans.start_ns.at(row), spans.end_ns.at(row), spans.span_id.at(row));
    if (!spans.pid.isNull(row)) component.processes.add(`${spans.pid.inner.at(row)}/${spans.rank.at(row)}`);
    if (!spans.thread_id.isNull(row)) component.threads.add(spans.thread_id.inner.at(row).toString());
  }

  private keepSpanHash(node: number, hash: number): void {
    if (node >= this.spanHashes.length) {
      const grown = new Uint32Array(Math.max(node + 1, this.spanHashes.length * 2));
      grown.set(this.spanHashes);
      this.spanHashes = grown;
    }
    this.spanHashes[node] = hash;
  }
}

export interface StoredBatch {
  readonly batchId: string;
  readonly source: string;
  readonly contentHash: string;
  readonly runOverride: string;
}

interface Taken {
  component: number;
  accepted: number;
  duplicates: number;
  readonly faults: Fault[];
  readonly dropped: { -readonly [T in keyof CirronRows]: Uint8Array | null };
}

function storedHash(column: { length: number; at(row: number): number }, row: number): number | null {
  return row < column.length ? column.at(row) : null;
}

function isRootWord(bytes: Uint8Array): boolean {
  return bytes.length === 4 && bytes[0] === 0x72 && bytes[1] === 0x6f && bytes[2] === 0x6f && bytes[3] === 0x74;
}

function firstKey(component: Component): string {
  return component.groupKeys.values().next().value as string;
}

function conflict(table: keyof CirronRows, id: string, row: number): Fault {
  return {
    code: "identity_conflict",
    detail: `${table}[${row}] has the id ${id}, which is known with other content; the first one is kept.`,
    place: { pointer: `/${table}/${row}` },
    raw: new Uint8Array(0),
  };
}

function reusedBatch(batchId: string): Fault {
  return {
    code: "batch_id_reused",
    detail: `Batch ${batchId} came again with other content; its new rows are taken.`,
    place: {},
    raw: new Uint8Array(0),
  };
}
