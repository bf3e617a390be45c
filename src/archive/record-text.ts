// Stored rows back to the records that were received: the text that came where it is kept, else one that is equal in
// every value.

import { formatJson } from "#base/json/format.ts";
import { parseGroupKey } from "#model/group-key.ts";
import { type RecordKind, type RecordRow, recordKinds } from "#store/reader/record-rows.ts";
import { formatMark, formatSnapshot, formatSpan } from "#wire/cirron/rebuild.ts";
import { rebuildLog, rebuildMetrics, rebuildOther, rebuildParam, type StoredMetric } from "#wire/xtrack/rebuild.ts";

export interface RecordText {
  readonly text: string;
  readonly rebuilt: boolean;
}

/** Rows of one record stand together in the order of arrival. */
export function groupRows(rows: readonly RecordRow[]): [RecordRow, ...RecordRow[]][] {
  const records: [RecordRow, ...RecordRow[]][] = [];
  for (const row of rows) {
    const last = records.at(-1);
    if (last !== undefined && last[0].jpos === row.jpos && last[0].jrow === row.jrow) last.push(row);
    else records.push([row]);
  }
  return records;
}

export function toRecordText(rows: readonly [RecordRow, ...RecordRow[]]): RecordText {
  const [first] = rows;
  switch (first.kind) {
    case "output":
      return { text: cellsOf(first, "output").msg as string, rebuilt: false };
    case "sample":
      return { text: formatSample(rows), rebuilt: true };
    case "node":
    case "event":
      return toLineText(first);
    default:
      return { text: first.raw === "" ? rebuild(rows) : first.raw, rebuilt: first.raw === "" };
  }
}

/** Semantiva's lines are their own payload. */
function toLineText(row: RecordRow): RecordText {
  if (row.raw !== "") return { text: row.raw, rebuilt: false };
  const payload = row.cells[0] as string;
  if (row.protocol === "semantiva") return { text: payload, rebuilt: false };
  if (row.protocol === "xtrack") return { text: rebuildOther({ ...storedOf(row), payload }), rebuilt: true };
  return { text: formatWrapperLine(row, payload), rebuilt: true };
}

function rebuild(rows: readonly [RecordRow, ...RecordRow[]]): string {
  const [first] = rows;
  const tail = { flags: first.flags, extra: first.extra, raw: first.raw };
  switch (first.kind) {
    case "span": {
      const cells = cellsOf(first, "span");
      return formatSpan({ ...textCells(cells), ...tail, rank: Number(cells.rank) }, "lossless");
    }
    case "mark": {
      const cells = cellsOf(first, "mark");
      const value_float = toDouble(cells.value_float);
      const value_bool = cells.value_bool === null ? null : Number(cells.value_bool);
      return formatMark({ ...textCells(cells), ...tail, value_float, value_bool }, "lossless");
    }
    case "snapshot": {
      const cells = cellsOf(first, "snapshot");
      return formatSnapshot({ ...textCells(cells), ...tail }, "lossless");
    }
    case "param": {
      const { key, nested_key, value } = textCells(cellsOf(first, "param"));
      return rebuildParam({ ...storedOf(first), type: "param", key, nestedKey: nested_key, value });
    }
    case "log": {
      const { level, msg, logger, step, fields } = cellsOf(first, "log");
      const texts = { level: level ?? "", msg: msg ?? "", logger: logger ?? "", fields: fields ?? "" };
      return rebuildLog({ ...storedOf(first), type: "log", ...texts, step: toInteger(step) });
    }
    default:
      return rebuildMetrics(rows.map(toStoredMetric) as [StoredMetric, ...StoredMetric[]]);
  }
}

function toStoredMetric(row: RecordRow): StoredMetric {
  const cells = cellsOf(row, "metric");
  return {
    ...storedOf(row),
    type: row.type as StoredMetric["type"],
    key: cells.key ?? "",
    phase: cells.phase ?? "",
    step: toInteger(cells.step),
    stepText: cells.step_text ?? "",
    epoch: toInteger(cells.epoch),
    value: toDouble(cells.value),
    valueText: cells.value_text ?? "",
    ctx: cells.ctx ?? "",
  };
}

function storedOf(row: RecordRow) {
  const { type, worker, extra, raw } = row;
  return {
    type,
    run: parseGroupKey(row.group_key).ownId,
    worker,
    seq: BigInt(row.seq ?? 0),
    tsNs: BigInt(row.ts_ns),
    extra,
    raw,
  };
}

function formatSample(rows: readonly [RecordRow, ...RecordRow[]]): string {
  const entries = rows.map((row) => {
    const { key, value } = cellsOf(row, "sample");
    return [key ?? "", toDouble(value)] as const;
  });
  return formatWrapperLine(rows[0], formatJson(Object.fromEntries(entries), "strict"));
}

function formatWrapperLine({ seq, type, ts_ns }: RecordRow, payload: string): string {
  return `{"n":${seq},"type":${JSON.stringify(type)},"ts_ns":"${ts_ns}","payload":${payload}}`;
}

type Cells<K extends RecordKind> = { readonly [C in (typeof recordKinds)[K]["columns"][number]]: string | null };

export function cellsOf<K extends RecordKind>(row: RecordRow, kind: K): Cells<K> {
  const cells: Record<string, string | null> = {};
  const { columns } = recordKinds[kind];
  for (let at = 0; at < columns.length; at++) cells[columns[at] as string] = row.cells[at] ?? null;
  return cells as Cells<K>;
}

/** For columns that are never null. */
function textCells<T extends Readonly<Record<string, string | null>>>(cells: T): { readonly [C in keyof T]: string } {
  return cells as { readonly [C in keyof T]: string };
}

function toInteger(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}

const words: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  "-nan": Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  "-inf": Number.NEGATIVE_INFINITY,
};

function toDouble(text: string | null): number | null {
  return text === null ? null : (words[text] ?? Number(text));
}
