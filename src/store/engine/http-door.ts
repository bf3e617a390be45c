// The ClickHouse HTTP protocol, as far as our own client speaks it, in front of the embedded engine.
// One statement a request; its answer streams. An error before the first byte has a status, a code header and a
// text; after it the code and the text come as trailers, so that half an answer is never taken for a whole one.

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { unlink } from "node:fs/promises";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { codeOf } from "#base/disk-outage.ts";
import { createHttp } from "#base/node-http.ts";
import { quote } from "#store/sql-quote.ts";
import { canStream } from "./chunked-format.ts";
import { type Engine, purposeOf, type Statement } from "./engine.ts";
import { guestUser, type Purpose } from "./engine-config.ts";
import type { Settings } from "./session-lane.ts";
import { firstWord, formatSettings, type InsertHead, parseInsertHead } from "./sql-text.ts";

const headerBytesMax = 4 << 20;
const queryBytesMax = 64 << 20;
/** A reader that takes nothing for this long loses its answer, because it holds a lane that others wait for. */
const stallMs = 60_000;

export function createDoor(engine: Engine, tmp: string): Server {
  let serial = 0;
  const server = createHttp({ maxHeaderSize: headerBytesMax, keepAliveTimeout: 300_000 }, (request, response) => {
    const gone = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) gone.abort(new Error("Code: 394. DB::Exception: The client went away."));
    });
    const call: Call = { engine, request, response, signal: gone.signal, infile: join(tmp, `insert-${serial++}`) };
    answer(call).catch((error) => {
      if (response.headersSent) breakOff(response, error);
      else refuse(response, error);
    });
  });
  server.requestTimeout = 0;
  return server;
}

interface Call {
  readonly engine: Engine;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Where this request's data may be put. */
  readonly infile: string;
}

function refuse(response: ServerResponse, error: unknown): void {
  const { status, code, text } = toEngineError(error);
  response.writeHead(status, {
    "X-ClickHouse-Exception-Code": String(code),
    "Content-Type": "text/plain; charset=UTF-8",
  });
  response.end(`${text}\n`);
}

function breakOff(response: ServerResponse, error: unknown): void {
  const { code, text } = toEngineError(error);
  // A header can hold neither line breaks nor other alphabets.
  const message = encodeURIComponent(text.slice(0, 1000).toWellFormed());
  response.addTrailers({ "X-ClickHouse-Exception-Code": String(code), "X-Exception-Text": message });
  response.end();
}

async function answer(call: Call): Promise<void> {
  const { request, response, signal } = call;
  if (request.url === "/ping") {
    response.end("Ok.\n");
    return;
  }
  const asked = parseRequest(request);
  const isGuest = asked.user === guestUser;
  const insertHead = isGuest ? null : parseInsertHead(asked.sql);
  if (insertHead !== null) {
    await insert(call, insertHead, asked);
    response.end();
    return;
  }
  const body = await readText(request);
  const sql = asked.sql === "" ? body : asked.sql;
  if (sql.trim() === "") throw new Error("Code: 62. DB::Exception: Empty query. (SYNTAX_ERROR)");
  if (sql.includes("\0")) throw new Error("Code: 62. DB::Exception: A NUL in the query. (SYNTAX_ERROR)");
  // The caller of a guest query is told when its turn comes: its time counts from then on.
  const onBegun = () => response.writeProcessing();
  const statement = { sql, format: asked.format, settings: asked.settings, signal, ...(isGuest ? { onBegun } : {}) };
  await reply(call, isGuest ? "guest" : purposeOf(sql), statement);
}

async function reply({ engine, response }: Call, purpose: Purpose, statement: Statement): Promise<void> {
  response.setHeader("X-ClickHouse-Format", statement.format);
  const isSelect = ["SELECT", "WITH"].includes(firstWord(statement.sql));
  if (!canStream(statement.format) || (purpose !== "guest" && !isSelect)) {
    response.end(await engine.run(purpose, statement));
    return;
  }
  await engine.stream(purpose, statement, async (chunk) => {
    if (response.write(chunk)) return;
    await once(response, "drain", { signal: AbortSignal.any([statement.signal, AbortSignal.timeout(stallMs)]) });
  });
  response.end();
}

/**
 * Data never goes into the text of the statement: the engine would end it at the first blank line and run the rest as
 * SQL. The statement names a file with the data: the caller's, or a temporary one for a body.
 */
async function insert(call: Call, head: InsertHead, asked: EngineRequest): Promise<void> {
  if (asked.infile !== null) {
    await insertFrom(asked.infile, call, head, asked);
    return;
  }
  const { request, infile } = call;
  try {
    await pipeline(request, createWriteStream(infile, { mode: 0o600 }));
    await insertFrom(infile, call, head, asked);
  } finally {
    await unlink(infile).catch(() => {});
  }
}

async function insertFrom(
  path: string,
  { engine, signal }: Call,
  head: InsertHead,
  asked: EngineRequest,
): Promise<void> {
  const settings = formatSettings(asked.settings);
  const own = settings === "" ? "" : ` SETTINGS ${settings}`;
  const sql = `${head.target} FROM INFILE ${quote(path)}${own} FORMAT ${head.format}`;
  await engine.run("write", { sql, format: "Null", settings: new Map(), signal });
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > queryBytesMax) throw new Error("Code: 62. DB::Exception: The query is too large. (SYNTAX_ERROR)");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

// The engine's errors as the ClickHouse HTTP protocol gives them: a status, a code header and the text.

// The codes whose status a real server sets too; every other one is 500.
const statusOf: ReadonlyMap<number, number> = new Map([
  [36, 400],
  [62, 400],
  [47, 404],
  [60, 404],
  [81, 404],
  [115, 404],
  [159, 408],
  [202, 503],
  [497, 403],
  [516, 403],
]);

const unknownCode = 1002;
const notEnoughSpace = 243;

function toEngineError(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  const code = Number(/^Code: (\d+)/.exec(message)?.[1] ?? codeOfSystem(error));
  const text = message.startsWith("Code: ") ? message : `Code: ${code}. DB::Exception: ${message}`;
  return { status: statusOf.get(code) ?? 500, code, text };
}

/** The body of an insert goes through a temporary file. */
function codeOfSystem(error: unknown): number {
  return ["ENOSPC", "EDQUOT"].includes(codeOf(error)) ? notEnoughSpace : unknownCode;
}

// A parsed request of the ClickHouse HTTP protocol. URL parameters are `query`, `database`, `default_format`, and
// otherwise settings of the statement. One is our own: `infile` names a file with the data of an INSERT, which then need
// not come through the socket.

interface EngineRequest {
  /** The query from the URL; '' when it is the body. */
  readonly sql: string;
  readonly user: string;
  readonly format: string;
  readonly settings: Settings;
  /** Where the data of an INSERT lies; null when it is the body. */
  readonly infile: string | null;
}

// Parameters a real server understands that are not settings of a statement here.
const ignored: ReadonlySet<string> = new Set([
  "query",
  "infile",
  "database",
  "default_format",
  "user",
  "password",
  "query_id",
  "session_id",
  "wait_end_of_query",
  "buffer_size",
  "enable_http_compression",
  "compress",
  "decompress",
  "send_progress_in_http_headers",
  "http_headers_progress_interval_ms",
]);

function parseRequest(request: IncomingMessage): EngineRequest {
  const url = new URL(request.url ?? "/", "http://engine");
  const settings = new Map<string, string>();
  for (const [name, value] of url.searchParams) if (!ignored.has(name)) settings.set(name, value);
  const user = request.headers["x-clickhouse-user"];
  return {
    sql: url.searchParams.get("query") ?? "",
    user: typeof user === "string" ? user : "default",
    format: url.searchParams.get("default_format") ?? "TabSeparated",
    settings,
    infile: url.searchParams.get("infile"),
  };
}
