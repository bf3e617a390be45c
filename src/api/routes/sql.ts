// SQL that people write: guarded, then answered row by row in the shape of the contract.

import type { Route } from "#api/context.ts";
import { FileBody, JsonBody } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { encodeCsv } from "#archive/export-files.ts";
import { Turn } from "#base/turns.ts";
import { answerSql, describeSql, type SqlAnswer, type SqlMistake, writeSqlParquet } from "#query/sql.ts";

export const sqlRoute: Route<"sql"> = async (context, { body, signal }) => {
  const { sqlRowsMax: rowsMax, sqlTimeoutMs: timeoutMs, sources } = context;
  const startedMs = performance.now();
  if (body.format === "parquet") {
    const file = await writeSqlParquet(sources, body.query, { timeoutMs, signal });
    if ("message" in file) throw toRefusal(file);
    return new FileBody("application/vnd.apache.parquet", file, "query.parquet");
  }
  const answer = await answerSql(sources, body.query, { timeoutMs, signal });
  if ("message" in answer) throw toRefusal(answer);
  if (body.format === "csv") {
    const names = answer.columns.map(({ name }) => name);
    return new FileBody("text/csv; charset=utf-8", encodeCsv(names, answer.rows), "query.csv");
  }
  return new JsonBody(stream(answer, Math.min(body.limit ?? rowsMax, rowsMax), startedMs));
};

export const sqlSchemaRoute: Route<"sqlSchema"> = ({ sources }) => describeSql(sources);

function toRefusal({ message, offset }: SqlMistake): Refusal {
  return new Refusal("sql_refused", message, {
    hint: "One SELECT over the tables of GET /api/v1/sql/schema; docs/sql.md says what is allowed.",
    at: offset === null ? { part: "sql" } : { part: "sql", offset, length: 1 },
  });
}

const newline = 0x0a;
const textEncoder = new TextEncoder();

/** `{"columns":[…],"rows":[…], …}`; rows beyond the limit are left out, and that is said. */
async function* stream(answer: SqlAnswer, limit: number, startedMs: number): AsyncGenerator<Uint8Array> {
  yield textEncoder.encode(`{"columns":${JSON.stringify(answer.columns)},"rows":[`);
  let rows = 0;
  let truncated = false;
  for await (const chunk of answer.rows) {
    const { parts, count, isCut } = takeRows(chunk, rows, limit);
    rows += count;
    if (chunk.length > pieceBytesMax) yield* inPieces(parts);
    else if (parts.length > 0) yield Buffer.concat(parts);
    if (isCut) {
      truncated = true;
      break;
    }
  }
  const elapsed = Math.round((performance.now() - startedMs) * 10) / 10;
  yield textEncoder.encode(`],"truncated":${truncated},"elapsed_ms":${elapsed}}`);
}

/** Chunks hold whole rows; commas go between them. */
function takeRows(chunk: Uint8Array, before: number, limit: number) {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  const parts: Uint8Array[] = [];
  let count = 0;
  let start = 0;
  while (start < chunk.length) {
    if (before + count >= limit) return { parts, count, isCut: true };
    const found = bytes.indexOf(newline, start);
    const end = found < 0 ? chunk.length : found;
    if (before + count > 0) parts.push(comma);
    parts.push(chunk.subarray(start, end));
    count++;
    start = end + 1;
  }
  return { parts, count, isCut: false };
}

const comma = textEncoder.encode(",");
const pieceBytesMax = 1024 * 1024;

/** A row of megabytes is not copied, and is sent in turns. */
async function* inPieces(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  const turn = new Turn();
  for (const part of parts)
    for (let at = 0; at < part.length; at += pieceBytesMax) {
      if (turn.isOver) await turn.pass();
      yield part.subarray(at, at + pieceBytesMax);
    }
}
