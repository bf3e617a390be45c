// Rows that were stored before the words for NaN and infinities were understood (see model/nonfinite-words.ts): their
// words stand in `extra` and `stats`, and the numbers and points that they say are filled in from there.

import { rowFlags } from "#model/row-flags.ts";
import { protocolsWith } from "#protocol/facts.ts";
import type { Dialect } from "./dialect.ts";

/** Of a JSON column: the number that a word in it says, or null. */
function numberOfWord(json: string, ...path: readonly string[]): string {
  const word = `JSONExtractString(${json}, ${path.map((name) => `'${name}'`).join(", ")})`;
  return `multiIf(${word} = 'nan', nan, ${word} = 'inf', inf, ${word} = '-inf', -inf, NULL)`;
}

const markValue = numberOfWord("extra", "value_nonfinite");
/** Cheap for the many rows that have nothing in `extra`. */
const isTold = `value_type = 'float' AND extra LIKE '%value_nonfinite%' AND isNotNull(${markValue})
  AND JSONType(extra, 'value') IN ('Null', '')`;

/** Each may run again after a crash: a second copy of a point is merged with the first. */
export function fillNonfinite(dialect: Dialect): string[] {
  return [pointsOfMarks(dialect), updateMarks(dialect), updateSnapshots(dialect)];
}

function pointsOfMarks({ database }: Dialect): string {
  const columns = {
    group_key: "group_key",
    key: "name",
    step: "JSONExtract(attrs, 'step', 'Nullable(Int64)')",
    epoch: "JSONExtract(attrs, 'epoch', 'Nullable(Int64)')",
    ts_ns: "ts_ns",
    value: markValue,
    source: `'${protocolsWith("sessions")[0]}'`,
    entry: "-1",
    mark_id: "mark_id",
    span_id: "span_id",
    received_ns: "received_ns",
    jpos: "jpos",
    jrow: "jrow",
    collector: "collector",
  };
  return `INSERT INTO ${database}.metrics (${Object.keys(columns).join(", ")})
SELECT ${Object.values(columns).join(", ")} FROM ${database}.marks WHERE ${isTold}`;
}

function updateMarks(dialect: Dialect): string {
  return `ALTER TABLE ${tableToChange(dialect, "marks")} UPDATE value_float = ${markValue},
  flags = bitOr(flags, toUInt32(${rowFlags.nonfinite_word})) WHERE isNull(value_float) AND ${isTold} ${untilDone}`;
}

function updateSnapshots(dialect: Dialect): string {
  const numbers = ["mean", "std", "min", "max", "norm"].map(
    (name) => `\`${name}\` = ifNull(\`${name}\`, ${numberOfWord("stats", "nonfinite", name)})`,
  );
  const lists = ["bins", "counts"].map((name) => {
    const sent = `JSONExtract(stats, 'finite', 'histogram', '${name}', 'Array(Float64)')`;
    return `${name} = if(empty(${name}), ${sent}, ${name})`;
  });
  return `ALTER TABLE ${tableToChange(dialect, "snapshots")} UPDATE ${[...numbers, ...lists].join(",\n  ")}
WHERE stats LIKE '%"nonfinite"%' AND JSONHas(stats, 'nonfinite') ${untilDone}`;
}

const untilDone = "SETTINGS mutations_sync = 2";

function tableToChange({ database, cluster }: Dialect, table: string): string {
  return cluster === null ? `${database}.${table}` : `${database}.${table}_local ON CLUSTER \`${cluster}\``;
}
