// What intake knows about the Cirron rows of one workspace, and how one more batch changes it.
// Everything here is derived: it is rebuilt at start from the stored rows and then from the journal.

import type { Int64Column, StringColumn } from "#base/columns.ts";
import { hashRows } from "#intake/content-hash.ts";
import type { Fault } from "#model/fault.ts";
import { formatGroupKey, groupKinds } from "#model/group-key.ts";
import type { StateChange } from "#model/state-tables.ts";
import type { Component } from "./component.ts";
import { ComponentSet } from "./component-set.ts";
import { SpanForest } from "./forest.ts";
import { GroupMap } from "./group-map.ts";
import { RowIndex } from "./row-index.ts";
import { noteRowTimes } from "./row-times.ts";
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
    const ownKey = formatGroupKey(this.workspace, groupKinds.cirronBatch, arrival.batchId);
    // A batch id that comes again with other content goes on where its first copy is, whose key may be this very one.
    const start = known === undefined ? this.components.add(this.workspace, ownKey) : known.component;
    const own = this.components.get(start);
    own.sources.add(arrival.source);
    if (arrival.runOverride !== null) own.runOverrides.add(arrival.runOverride);
    const taken = this.take(arrival.rows, this.components.find(start));
    const component = this.components.find(taken.component);
    // Tied to an older component, its rows are stored under that one's key and its own is never used.
    if (known === undefined && component !== start) this.components.get(component).groupKeys.delete(ownKey);
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

  /** Rows that the store already holds, at start: they tie and are known, and change nothing. Tells which are there twice. */
  restore(groupKey: string, rows: CirronRows, batches: readonly StoredBatch[]): Doubles {
    const index = this.components.add(this.workspace, groupKey);
    noteBatches(this.components.get(index), batches);
    const taken = this.take(rows, index);
    for (const batch of batches)
      this.batches.set(batch.batchId, { contentHash: batch.contentHash, component: taken.component });
    this.components.index(taken.component);
    return this.doublesOf(rows, taken);
  }

  /**
   * Rows that another collector has stored while this one runs: they tie and are known from now on. Tells which of them
   * were known already, and so may be stored twice.
   */
  fold(groupKey: string, rows: CirronRows, batches: readonly StoredBatch[], receivedNs: bigint): FoldOutcome {
    const start = this.components.ofKey(groupKey) ?? this.components.add(this.workspace, groupKey);
    const component = this.components.get(start);
    component.groupKeys.add(groupKey);
    noteBatches(component, batches);
    const taken = this.take(rows, start);
    for (const { batchId, contentHash } of batches)
      if (!this.batches.has(batchId)) this.batches.set(batchId, { contentHash, component: taken.component });
    this.components.index(taken.component);
    const changes = this.groups.update(taken.component, { receivedNs, imported: false });
    return { ...this.doublesOf(rows, taken), changes };
  }

  private doublesOf(rows: CirronRows, { dropped, component }: Taken): Doubles {
    return {
      ids: {
        spans: idsOf(rows.spans.span_id, dropped.spans),
        marks: idsOf(rows.marks.mark_id, dropped.marks),
        snapshots: idsOf(rows.snapshots.snapshot_id, dropped.snapshots),
      },
      groupKeys: [...this.components.get(component).groupKeys],
    };
  }

  /** Whether a batch is known, and that its rows are stored under this key. */
  knows(batchId: string, groupKey: string): boolean {
    const batch = this.batches.get(batchId);
    return batch !== undefined && this.components.get(batch.component).groupKeys.has(groupKey);
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
    const { span_id: ids, parent_id, name } = spans;
    const sessionCode = name.keys.indexOf("cirron.session");
    const epochCode = name.keys.indexOf("epoch");
    const hashes = contentHashes(rows, "spans", ids.length);
    for (let row = 0, parent = -1; row < ids.length; row++) {
      const hash = hashes[row] as number;
      const node = this.tie(ids, row, -1, taken);
      const isNew = !this.forest.isArrived(node);
      if (isNew) {
        const isAwaited = this.forest.arrive(node);
        if (isAwaited) this.components.get(taken.component).unresolved.delete(node);
        this.keepSpanHash(node, hash);
        taken.accepted++;
      } else this.refuse(taken, "spans", row, ids.length, hash, this.spanHashes[node] as number, ids.at(row));
      if (parent_id.nulls.values[row] === 0) {
        parent = this.tie(parent_id.inner, row, parent, taken);
        if (isNew && this.forest.link(node, parent, name.codes[row] === epochCode))
          this.awaitParent(parent, parent_id.inner.at(row), taken);
      }
      if (isNew && sessionCode >= 0 && name.codes[row] === sessionCode)
        noteSessionSpan(this.components.get(taken.component), spans, row);
    }
    noteSpans(this.components.get(taken.component), spans, taken.dropped.spans);
  }

  private awaitParent(parent: number, id: string, taken: Taken): void {
    this.forest.await(parent, id);
    this.components.get(taken.component).unresolved.add(parent);
  }

  private takeLeaves(rows: CirronRows, table: "marks" | "snapshots", taken: Taken): void {
    const index = this[table];
    const ids = table === "marks" ? rows.marks.mark_id : rows.snapshots.snapshot_id;
    const { span_id: owners, ts_ns } = rows[table];
    const hashes = contentHashes(rows, table, ids.length);
    for (let row = 0, start = 0, span = -1; row < ids.length; row++) {
      const end = ids.ends[row] as number;
      const hash = hashes[row] as number;
      // The literal "root" names no span: it links nothing.
      if (!isRootWord(owners, row)) span = this.tie(owners, row, span, taken);
      const entry = index.findOrAdd(ids.bytes, start, end, hash, taken.component);
      start = end;
      if (entry < 0) taken.accepted++;
      else {
        taken.component = this.components.union(taken.component, index.ownerOf(entry));
        this.refuse(taken, table, row, ids.length, hash, index.hashOf(entry), ids.at(row));
      }
    }
    const component = this.components.get(taken.component);
    noteRowTimes(component, { starts: ts_ns, ends: ts_ns, ids }, taken.dropped[table]);
  }

  /**
   * The node of a span id; ties this batch to whatever the id is already tied to. `before` is the node of the row before,
   * or -1: siblings come together, and comparing their parents' ids takes a fifth of looking one up.
   */
  private tie(ids: StringColumn, row: number, before: number, taken: Taken): number {
    const start = row === 0 ? 0 : (ids.ends[row - 1] as number);
    const isSame = before >= 0 && isRepeated(ids, row);
    const node = isSame ? before : this.forest.node(ids.bytes, start, ids.ends[row] as number, taken.component);
    const owner = this.forest.ownerOf(node);
    if (owner !== taken.component) taken.component = this.components.union(taken.component, owner);
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

/** Rows that may be stored twice. */
export interface Doubles {
  readonly ids: { readonly [T in keyof CirronRows]: readonly string[] };
  /** Every key of the component that the rows belong to. */
  readonly groupKeys: readonly string[];
}

export interface FoldOutcome extends Doubles {
  readonly changes: StateChange[];
}

function noteBatches(component: Component, batches: readonly StoredBatch[]): void {
  for (const { source, runOverride } of batches) {
    component.sources.add(source);
    if (runOverride !== "") component.runOverrides.add(runOverride);
  }
}

function idsOf(ids: StringColumn, dropped: Uint8Array | null): string[] {
  if (dropped === null) return [];
  return Array.from(dropped.keys()).flatMap((row) => (dropped[row] === 1 ? [ids.at(row)] : []));
}

interface Taken {
  component: number;
  accepted: number;
  duplicates: number;
  readonly faults: Fault[];
  readonly dropped: { -readonly [T in keyof CirronRows]: Uint8Array | null };
}

/** The hashes of all rows, filled in where they are not known from the store. */
function contentHashes(rows: CirronRows, table: keyof CirronRows, count: number): Uint32Array {
  const { content_hash: column } = rows[table];
  if (column.length < count) for (const hash of hashRows(contentColumns(rows, table), count)) column.push(hash);
  return column.values;
}

/** Times, processes and threads. Rows of one process come together, so only a change among them is looked at. */
function noteSpans(component: Component, spans: CirronRows["spans"], dropped: Uint8Array | null): void {
  const { pid, rank, thread_id: thread, span_id: ids } = spans;
  let process = -1;
  let lastThread = -1;
  for (let row = 0; row < ids.length; row++) {
    if (dropped !== null && dropped[row] === 1) continue;
    component.spans++;
    const isSame = process >= 0 && isEqual(pid.inner, row, process) && rank.at(row) === rank.at(process);
    if (!isSame && !pid.isNull(row)) {
      component.processes.add(`${pid.inner.at(row)}/${rank.at(row)}`);
      process = row;
    }
    if (!thread.isNull(row) && (lastThread < 0 || !isEqual(thread.inner, row, lastThread))) {
      component.threads.add(thread.inner.at(row).toString());
      lastThread = row;
    }
  }
  noteRowTimes(component, { starts: spans.start_ns, ends: spans.end_ns, ids }, dropped);
}

function isEqual({ words }: Int64Column, a: number, b: number): boolean {
  return words[a * 2] === words[b * 2] && words[a * 2 + 1] === words[b * 2 + 1];
}

/** Whether the text, which is not empty, is that of the row before. */
function isRepeated({ bytes, ends }: StringColumn, row: number): boolean {
  if (row === 0) return false;
  const start = ends[row - 1] as number;
  const size = (ends[row] as number) - start;
  if (size === 0 || start - (row === 1 ? 0 : (ends[row - 2] as number)) !== size) return false;
  for (let at = start; at < start + size; at++) if (bytes[at] !== bytes[at - size]) return false;
  return true;
}

function isRootWord({ bytes, ends }: StringColumn, row: number): boolean {
  const start = row === 0 ? 0 : (ends[row - 1] as number);
  if ((ends[row] as number) - start !== 4) return false;
  return bytes[start] === 0x72 && bytes[start + 1] === 0x6f && bytes[start + 2] === 0x6f && bytes[start + 3] === 0x74;
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
