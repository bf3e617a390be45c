// A stored row back to the record the client sent, equal in every value: what export and `events` give out.
// The cells may come from columns in memory or from the store; integers may be bigints, numbers or decimal text.
// Fields the client left out come back with the value the document gives them by default.

import { formatDouble } from "#base/json/format.ts";
import { mergeMembers } from "#base/json/members.ts";
import { formatLongText, type Texts } from "#base/json/texts.ts";
import { rowFlags } from "#model/row-flags.ts";

/** What a column may hold. JSON is '' where the client sent null. */
interface Cell {
  readonly text: string | null;
  readonly json: string;
  readonly integer: bigint | number | string | null;
  /** The value of a mark is in one of four columns; this cell only names the type. */
  readonly value: string;
}

/** By kind of record, the fields in the order of the document, each with its column and what that holds. */
const recordFields = {
  span: {
    id: ["span_id", "text"],
    name: ["name", "text"],
    parent_id: ["parent_id", "text"],
    index: ["index", "integer"],
    start_ns: ["start_ns", "integer"],
    end_ns: ["end_ns", "integer"],
    cpu_ns: ["cpu_ns", "integer"],
    gpu_ns: ["gpu_ns", "integer"],
    memory_peak_bytes: ["memory_peak_bytes", "integer"],
    thread_id: ["thread_id", "integer"],
    pid: ["pid", "integer"],
    rank: ["rank", "integer"],
    attrs: ["attrs", "json"],
    mark_ids: ["mark_ids", "json"],
  },
  mark: {
    id: ["mark_id", "text"],
    span_id: ["span_id", "text"],
    name: ["name", "text"],
    value_type: ["value_type", "text"],
    value: ["value_type", "value"],
    attrs: ["attrs", "json"],
    ts_ns: ["ts_ns", "integer"],
    kind: ["kind", "text"],
  },
  snapshot: {
    id: ["snapshot_id", "text"],
    span_id: ["span_id", "text"],
    tensor_name: ["tensor_name", "text"],
    shape: ["shape", "json"],
    dtype: ["dtype", "text"],
    mode: ["mode", "text"],
    stats: ["stats", "json"],
    blob_uri: ["blob_uri", "text"],
    ts_ns: ["ts_ns", "integer"],
    attrs: ["attrs", "json"],
  },
} as const satisfies Record<string, Readonly<Record<string, readonly [column: string, form: keyof Cell]>>>;

type CirronKind = keyof typeof recordFields;
type FieldOf<K extends CirronKind> = (typeof recordFields)[K][keyof (typeof recordFields)[K]] &
  readonly [string, keyof Cell];

interface TailCells {
  readonly flags: number;
  readonly extra: string;
  readonly raw: string;
}

interface MarkValue {
  readonly value_float: number | null;
  readonly value_int: Cell["integer"];
  readonly value_string: string | null;
  readonly value_bool: number | boolean | null;
}

export type RecordCells<K extends CirronKind> = TailCells & {
  readonly [F in FieldOf<K> as F[0]]: Cell[F[1]];
} & (K extends "mark" ? MarkValue : unknown);

/** With pauses: a record may have megabytes. */
export function* formatRecord<K extends CirronKind>(kind: K, cells: RecordCells<K>): Generator<void, Texts> {
  if (cells.raw !== "") return [cells.raw];
  const fields = new Map<string, string | Texts>();
  for (const [name, [column, form]] of Object.entries(recordFields[kind])) {
    const cell = (cells as unknown as Readonly<Record<string, Cell["integer"]>>)[column] ?? null;
    if (form === "json") fields.set(name, cell === "" ? "null" : String(cell));
    else if (form === "value") fields.set(name, yield* formatValue(cells as RecordCells<"mark">));
    else if (form === "text" && cell !== null) fields.set(name, yield* formatText(String(cell), cells));
    else fields.set(name, String(cell));
  }
  return yield* mergeMembers(fields, cells.extra);
}

function* formatValue(cells: RecordCells<"mark">): Generator<void, string | Texts> {
  const { flags, value_float, value_int, value_string, value_bool } = cells;
  if ((flags & rowFlags.nonfinite_word) !== 0) return "null";
  if (value_float !== null) return Number.isFinite(value_float) ? formatDouble(value_float) : String(value_float);
  if (value_int !== null) return String(value_int);
  if (value_string !== null) return yield* formatText(value_string, cells);
  return value_bool === null ? "null" : String(Boolean(value_bool));
}

/** Text columns of a flagged row hold JSON-escaped text already. */
function* formatText(text: string, { flags }: TailCells): Generator<void, Texts> {
  return (flags & rowFlags.escaped_text) !== 0 ? ['"', text, '"'] : yield* formatLongText(text);
}
