// Cirron rows made from plain objects, for tests of intake that do not want to depend on the decoder.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "#base/json/parse.ts";
import type { CirronRows } from "#intake/cirron/rows.ts";
import { createRows } from "#model/tables.ts";

type Plain = Record<string, unknown>;

export interface PlainBatch {
  readonly batch_id: string;
  readonly spans: Plain[];
  readonly marks: Plain[];
  readonly snapshots: Plain[];
}

export function readSpool(folder: string): PlainBatch[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => {
      const parsed = parseJson(readFileSync(join(folder, name)));
      if (!parsed.ok) throw new Error(`${name}: ${parsed.fault.reason}`);
      return parsed.value as unknown as PlainBatch;
    });
}

export function toCirronRows(batch: Pick<PlainBatch, "spans" | "marks" | "snapshots">): CirronRows {
  const rows: CirronRows = {
    spans: createRows("spans"),
    marks: createRows("marks"),
    snapshots: createRows("snapshots"),
  };
  for (const span of batch.spans) pushSpan(rows, span);
  for (const mark of batch.marks) pushMark(rows, mark);
  for (const snapshot of batch.snapshots) pushSnapshot(rows, snapshot);
  return rows;
}

function pushSpan({ spans }: CirronRows, span: Plain): void {
  spans.span_id.push(String(span["id"]));
  if (span["parent_id"] == null) spans.parent_id.pushNull();
  else spans.parent_id.present().push(String(span["parent_id"]));
  spans.name.push(String(span["name"]));
  for (const name of ["index", "cpu_ns", "gpu_ns", "memory_peak_bytes", "thread_id", "pid"] as const) {
    const value = span[name];
    if (Number.isInteger(value) || typeof value === "bigint") spans[name].present().pushBigInt(BigInt(value as number));
    else spans[name].pushNull();
  }
  spans.start_ns.pushBigInt(BigInt(span["start_ns"] as bigint));
  spans.end_ns.pushBigInt(BigInt(span["end_ns"] as bigint));
  spans.rank.push(Number(span["rank"] ?? 0));
  spans.attrs.push(text(span["attrs"] ?? {}));
  spans.mark_ids.push(text(span["mark_ids"] ?? []));
  finish(spans);
}

function pushMark({ marks }: CirronRows, mark: Plain): void {
  marks.mark_id.push(String(mark["id"]));
  marks.span_id.push(String(mark["span_id"]));
  marks.name.push(String(mark["name"]));
  marks.value_type.push(String(mark["value_type"]));
  const { value } = mark;
  if (mark["value_type"] === "float") marks.value_float.present().push(Number(value));
  else marks.value_float.pushNull();
  if (mark["value_type"] === "int" && Number.isInteger(value)) marks.value_int.present().pushNumber(value as number);
  else marks.value_int.pushNull();
  if (mark["value_type"] === "string") marks.value_string.present().push(String(value));
  else marks.value_string.pushNull();
  if (mark["value_type"] === "bool") marks.value_bool.present().push(value === true ? 1 : 0);
  else marks.value_bool.pushNull();
  marks.attrs.push(text(mark["attrs"] ?? {}));
  marks.ts_ns.pushBigInt(BigInt(mark["ts_ns"] as bigint));
  marks.kind.push(String(mark["kind"] ?? "point"));
  finish(marks);
}

function pushSnapshot({ snapshots }: CirronRows, snapshot: Plain): void {
  snapshots.snapshot_id.push(String(snapshot["id"]));
  snapshots.span_id.push(String(snapshot["span_id"]));
  snapshots.tensor_name.push(String(snapshot["tensor_name"]));
  snapshots.shape.push(text(snapshot["shape"]));
  snapshots.dtype.push(String(snapshot["dtype"]));
  snapshots.mode.push(String(snapshot["mode"]));
  for (const name of ["mean", "std", "min", "max", "norm"] as const) snapshots[name].pushNull();
  snapshots.bins.finishRow();
  snapshots.counts.finishRow();
  snapshots.stats.push(text(snapshot["stats"] ?? null));
  snapshots.blob_uri.pushNull();
  snapshots.ts_ns.pushBigInt(BigInt(snapshot["ts_ns"] as bigint));
  snapshots.attrs.push(text(snapshot["attrs"] ?? {}));
  finish(snapshots);
}

function finish(rows: CirronRows["spans"] | CirronRows["marks"] | CirronRows["snapshots"]): void {
  rows.flags.push(0);
  rows.extra.push("");
  rows.raw.push("");
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? inner.toString() : inner));
}

interface ExpectedSession {
  readonly root: string | null;
  readonly root_kind: string;
  readonly spans: number;
  readonly marks: number;
  readonly snapshots: number;
  readonly orphan: boolean;
  readonly adoptable_by: string | null;
}

/** What a recording says of the sessions in its spool, orphans counted with those that adopt them. */
export function expectedSessions(folder: string): { root: string; kind: string; rows: number; run: string }[] {
  const sessions = JSON.parse(readFileSync(join(folder, "sessions.expected.json"), "utf8")) as ExpectedSession[];
  const rowsOf = (one: ExpectedSession) => one.spans + one.marks + one.snapshots;
  return sessions
    .filter((one) => !one.orphan)
    .map((one) => {
      const adopted = sessions.filter((other) => other.orphan && other.adoptable_by === one.root);
      const rows = rowsOf(one) + adopted.reduce((sum, other) => sum + rowsOf(other), 0);
      return { root: one.root as string, kind: one.root_kind, rows, run: one.root as string };
    });
}
