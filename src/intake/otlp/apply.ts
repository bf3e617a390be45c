// A decoded request → rows. A known record is counted and not stored again; a span with a known id and other content is a
// fault, and the first one stays.

import type { Int64Column, UInt32Column } from "#base/columns.ts";
import { formatJson } from "#base/json/format.ts";
import { type JsonValue, NumberText } from "#base/json/value.ts";
import type { Applied } from "#intake/applied.ts";
import { hashRows } from "#intake/content-hash.ts";
import { type PlacedFault, toFaultParts } from "#intake/fault-rows.ts";
import type { ArrivedAt } from "#intake/input.ts";
import type { KnownRecords } from "#intake/intake-state.ts";
import type { KnownGroups } from "#intake/known-groups.ts";
import type { AnyTablePart } from "#model/batch.ts";
import type { Fault } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import type { GroupName } from "#model/names.ts";
import type { StateChange } from "#model/state-tables.ts";
import { createRows, type Rows } from "#model/tables.ts";
import type { DecodedExport } from "#wire/otlp/decode.ts";
import type { LogColumns } from "#wire/otlp/log-columns.ts";
import type { Origin } from "#wire/otlp/origin.ts";
import type { PointColumns } from "#wire/otlp/point-columns.ts";
import { type SpanColumns, spanIdWords } from "#wire/otlp/span-columns.ts";
import { loadContentId, loadLogId, loadSpanId, spanContent, toKeptHash } from "./identity.ts";
import type { Placement } from "./placement.ts";

const protocol = "otlp";

/** With pauses where there is much text. */
export function applyExport(
  state: KnownRecords,
  request: DecodedExport,
  placed: Placement,
  meta: ArrivedAt,
): Generator<void, Applied> {
  return new OtlpBatch(state, request, placed, meta).apply();
}

export function placeFaults({ faults }: DecodedExport, { groups }: Placement): PlacedFault[] {
  return faults.map((fault) => ({ fault, groupKey: groups[0]?.groupKey ?? "" }));
}

class OtlpBatch {
  private accepted = 0;
  private duplicates = 0;
  private readonly state: KnownRecords;
  private readonly request: DecodedExport;
  private readonly placed: Placement;
  private readonly meta: ArrivedAt;
  private readonly conflicts: FaultList<PlacedFault>;
  /** One byte per row, 1 where it must not be stored; made with the first such row. */
  private dropped: Uint8Array | null = null;

  constructor(state: KnownRecords, request: DecodedExport, placed: Placement, meta: ArrivedAt) {
    this.state = state;
    this.request = request;
    this.placed = placed;
    this.meta = meta;
    this.conflicts = new FaultList(meta.faultsMax);
  }

  *apply(): Generator<void, Applied> {
    const { request, placed, meta } = this;
    const changes = this.noteGroups();
    const params = new ResourceParams(this.state.groups, placed, meta);
    const parts = yield* this.takeRecords(params);
    const faults = [
      ...placeFaults(request, placed),
      ...this.conflicts.toArray((first, count) => ({ ...first, fault: toRestFault(first.fault, count) })),
    ];
    return {
      parts: [...parts, ...params.parts(), ...toFaultParts(faults, protocol, meta, this.state.faults)],
      state: changes,
      accepted: this.accepted,
      duplicates: this.duplicates,
      faults: faults.map(({ fault }) => fault),
    };
  }

  private noteGroups(): StateChange[] {
    const { workspace, imported, receivedNs, position } = this.meta;
    const cause = { workspace, protocol, runOverride: null, imported, receivedNs };
    return this.placed.groups.flatMap(({ groupKey, runId }) =>
      this.state.groups.note(groupKey, { ...cause, ownId: runId }, position),
    );
  }

  private *takeRecords(params: ResourceParams): Generator<void, AnyTablePart[]> {
    const { request } = this;
    switch (request.signal) {
      case "traces":
        return yield* this.takeSpans(request.columns, params);
      case "metrics":
        return this.takePoints(request.columns, params);
      case "logs":
        return this.takeLogs(request.columns, params);
    }
  }

  private *takeSpans(columns: SpanColumns, params: ResourceParams): Generator<void, AnyTablePart[]> {
    const { rows, points, ids, length } = columns;
    const hashes = yield* hashRows(spanContent(rows), length);
    const { values } = ids;
    this.takeEach(columns, rows.start_ns, params, hashes, (row) => {
      const at = row * spanIdWords;
      loadSpanId(
        values[at] as number,
        values[at + 1] as number,
        values[at + 2] as number,
        values[at + 3] as number,
        values[at + 4] as number,
        values[at + 5] as number,
      );
    });
    rows.cpu_ns.padTo(length);
    rows.gpu_ns.padTo(length);
    rows.memory_peak_bytes.padTo(length);
    rows.content_hash.reserve(length);
    rows.content_hash.values.set(hashes);
    rows.content_hash.length = length;
    this.stamp(rows, length);
    columns.release();
    return [
      ...(length === 0 ? [] : [{ table: "spans" as const, rows, dropped: this.dropped }]),
      ...this.drawn(points.rows, points.span),
    ];
  }

  private takePoints(columns: PointColumns, params: ResourceParams): AnyTablePart[] {
    const { rows, length, drawn, owner } = columns;
    this.takeEach(columns, rows.ts_ns, params, null, (row) => loadContentId(rows.event_id.at(row)));
    rows.protocol.padTo(length, protocol);
    rows.seq.padZerosTo(length);
    this.stamp(rows, length);
    return [
      ...(length === 0 ? [] : [{ table: "events" as const, rows, dropped: this.dropped }]),
      ...this.drawn(drawn, owner),
    ];
  }

  private takeLogs(columns: LogColumns, params: ResourceParams): AnyTablePart[] {
    const { rows, length } = columns;
    const { words } = rows.seq;
    this.takeEach(columns, rows.ts_ns, params, null, (row) =>
      loadLogId(words[row * 2] as number, words[row * 2 + 1] as number),
    );
    rows.stream.padTo(length, "");
    rows.offset.padZerosTo(length);
    this.stamp(rows, length);
    return length === 0 ? [] : [{ table: "logs", rows, dropped: this.dropped }];
  }

  /** Finds out which rows are new. `hashes` are those of their contents, where the identity does not include it. */
  private takeEach(
    { origin, length }: { readonly origin: UInt32Column; readonly length: number },
    times: Int64Column,
    params: ResourceParams,
    hashes: Uint32Array | null,
    load: (row: number) => void,
  ): void {
    const { placed, meta, request } = this;
    const known = placed.groups.map(({ groupKey }) => this.state.groups.linesOf(groupKey, meta.position));
    for (let row = 0; row < length; row++) {
      const group = placed.groupOf[row] as number;
      const from = origin.at(row);
      params.note(group, from, request.origins, times, row);
      load(row);
      const hash = hashes === null ? 0 : toKeptHash(hashes[row] as number);
      const before = known[group]?.getOrSet(hash) ?? -1;
      if (before < 0) {
        this.accepted++;
        continue;
      }
      this.duplicates++;
      this.dropped ??= new Uint8Array(length);
      this.dropped[row] = 1;
      if (before !== hash) this.conflicts.add(() => this.toConflict(row, group));
    }
  }

  private toConflict(row: number, group: number): PlacedFault {
    const { rows } = this.request.columns as SpanColumns;
    const text = `{"span_id":"${rows.span_id.at(row)}","attributes":${rows.attrs.at(row)},"extra":${rows.extra.at(row)}}`;
    const fault: Fault = {
      code: "identity_conflict",
      detail: `another span ${rows.span_id.at(row)} of this trace is known with other content`,
      place: {},
      raw: Buffer.from(text),
    };
    return { fault, groupKey: this.placed.groups[group]?.groupKey ?? "" };
  }

  /** Points that belong to rows of another table, and are dropped with them. */
  private drawn(rows: Rows<"metrics">, owner: UInt32Column): AnyTablePart[] {
    const { length } = owner;
    if (length === 0) return [];
    const { dropped } = this;
    const owners = owner.values;
    rows.phase.padTo(length, "");
    rows.step_text.padTo(length);
    rows.epoch.padTo(length);
    rows.value_text.padTo(length);
    rows.source.padTo(length, protocol);
    rows.mark_id.padTo(length);
    rows.span_id.padTo(length);
    rows.ctx.padTo(length, "");
    rows.extra.padTo(length);
    rows.raw.padTo(length);
    this.stamp(rows, length, owners);
    const droppedRows = dropped === null ? null : new Uint8Array(length);
    if (dropped !== null && droppedRows !== null)
      for (let row = 0; row < length; row++) droppedRows[row] = dropped[owners[row] as number] as number;
    owner.release();
    return [{ table: "metrics", rows, dropped: droppedRows }];
  }

  /** Fills the columns about the arrival. `owners` says to which record each row belongs, where it is not one itself. */
  private stamp(rows: StampedRows, length: number, owners?: Uint32Array): void {
    const { receivedNs, position } = this.meta;
    const { groups, groupOf } = this.placed;
    const codes = Uint32Array.from(groups, ({ groupKey }) => rows.group_key.intern(groupKey));
    rows.group_key.reserve(length);
    rows.jrow.reserve(length);
    for (let row = 0; row < length; row++) {
      const record = owners === undefined ? row : (owners[row] as number);
      rows.group_key.codes[row] = codes[groupOf[record] as number] as number;
      rows.jrow.values[row] = record;
    }
    rows.group_key.length = length;
    rows.jrow.length = length;
    rows.received_ns.padTo(length, receivedNs);
    rows.jpos.padTo(length, BigInt(position));
    rows.flags.padTo(length, 0);
  }
}

type StampedRows = Pick<Rows<"metrics">, "group_key" | "jrow" | "received_ns" | "jpos" | "flags">;

// The attributes of a resource as params of its run, once for each group that has records of it.

/** The `seq` of params that are attributes of a resource, which is not a record itself. */
const ofResource = -2;

class ResourceParams {
  private readonly groups: KnownGroups;
  private readonly placed: Placement;
  private readonly meta: ArrivedAt;
  private readonly params = createRows("params");
  /** Pairs of group and origin that this request has met. */
  private readonly seen = new Set<number>();
  private lastPair = -1;

  constructor(groups: KnownGroups, placed: Placement, meta: ArrivedAt) {
    this.groups = groups;
    this.placed = placed;
    this.meta = meta;
  }

  /** A record of this group has this origin. If the origin's params are new, they get the record's time. */
  note(group: number, from: number, origins: readonly Origin[], times: Int64Column, row: number): void {
    const pair = group * origins.length + from;
    if (pair === this.lastPair) return;
    this.lastPair = pair;
    if (this.seen.has(pair)) return;
    this.seen.add(pair);
    const origin = origins[from] as Origin;
    const { groupKey } = this.placed.groups[group] as Placement["groups"][number];
    loadContentId(origin.id);
    if (this.groups.linesOf(groupKey, this.meta.position).getOrSet(0) >= 0) return;
    const tsNs = times.at(row);
    for (const [name, value] of Object.entries(origin.resource)) this.push(name, value, origin.worker, groupKey, tsNs);
  }

  parts(): AnyTablePart[] {
    const { params } = this;
    return params.seq.length === 0 ? [] : [{ table: "params", rows: params, dropped: null }];
  }

  private push(name: string, value: JsonValue, worker: string, groupKey: GroupName, tsNs: bigint): void {
    const { params } = this;
    params.group_key.push(groupKey);
    params.name.push(name);
    params.worker.push(worker);
    params.key.push(name);
    params.nested_key.push("");
    params.value.push(formatJson(value, "strict"));
    if (typeof value === "number" || typeof value === "bigint") params.value_num.present().push(Number(value));
    else if (value instanceof NumberText) params.value_num.present().push(Number(value.text));
    else params.value_num.pushNull();
    params.ts_ns.pushBigInt(tsNs);
    params.seq.pushNumber(ofResource);
    params.received_ns.pushBigInt(this.meta.receivedNs);
    params.jpos.pushNumber(this.meta.position);
    params.jrow.push(params.seq.length - 1);
    params.flags.push(0);
    params.extra.push("");
    params.raw.push("");
  }
}
