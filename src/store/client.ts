// The store's only implementation: SQL over the ClickHouse HTTP protocol, to the embedded engine's socket or to a
// server. Answers stream through as the bytes the engine wrote.

import type { IncomingMessage } from "node:http";
import { started } from "#base/started.ts";
import { Turn } from "#base/turns.ts";
import type { Quorum, ServerAddress, StoreAddress } from "./address.ts";
import { startEmbedded } from "./embedded.ts";
import type { EngineSupervisor } from "./engine/supervisor.ts";
import {
  checkTrailers,
  createAnyLink,
  createLink,
  type HttpLink,
  parseStoreUrls,
  readAll,
  readChunks,
  toLinkOutage,
  type Waiting,
} from "./http-link.ts";
import { guestRowBytesMax, JsonRows } from "./json-rows/json-rows.ts";
import type { NativeBlock } from "./native/encode-block.ts";
import { StoreOutage } from "./outage.ts";
import { placeParams, writeParams } from "./params.ts";
import { count, int, readRow, readRows, text } from "./reader/native-rows.ts";
import { paramsByKey, type Summary, summaries } from "./schema/summaries.ts";
import { quote } from "./sql-quote.ts";
import {
  type Answer,
  type EngineFormat,
  type InsertOptions,
  type Query,
  type ReadOptions,
  type Store,
  type StoreStats,
  withOptions,
} from "./store.ts";

const typedRows = "JSONCompactEachRowWithNamesAndTypes";

/** Settings sent to a server with each query; the embedded engine's sessions have them from the start. */
const outputSettings = {
  output_format_json_quote_64bit_integers: "1",
  output_format_json_quote_denormals: "1",
  output_format_json_escape_forward_slashes: "0",
};

/**
 * How long a server may be silent. During a long statement it reports its progress in headers; a change of the schema
 * on a cluster waits for all of its servers without a word.
 */
const silenceMs = { insert: 60_000, read: 60_000, ddl: 300_000, ping: 5000 } as const;
const progress = { send_progress_in_http_headers: "1", http_headers_progress_interval_ms: "5000" };

const tableStats = { table: text, rows: count, bytes: count, parts: count };

/** A server takes a query of 256 KiB unless told otherwise. */
const queryCharsUsual = 60_000;

interface Account {
  readonly user: string;
  readonly password: string;
}

export async function createStore(address: StoreAddress): Promise<Store> {
  if (address.kind === "embedded") {
    const engine = await (address.starting ?? startEmbedded(address));
    const link = createLink({ url: new URL("http://engine/"), socketPath: engine.socketPath });
    const owner = { user: "default", password: "" };
    return new HttpStore({ link, engine, owner, guest: { user: "guest", password: "" }, database: "tributary" });
  }
  return new HttpStore({
    link: createAnyLink(parseStoreUrls(address.url)),
    engine: null,
    owner: { user: address.user, password: address.password },
    guest: guestOf(address),
    database: address.database,
    cluster: address.cluster ?? null,
    quorum: address.quorum ?? "majority",
  });
}

function guestOf(address: ServerAddress): Account | null {
  if (address.guestUser === undefined) return null;
  return { user: address.guestUser, password: address.guestPassword ?? "" };
}

interface Parts {
  readonly link: HttpLink;
  readonly engine: EngineSupervisor | null;
  readonly owner: Account;
  readonly guest: Account | null;
  readonly database: string;
  readonly cluster?: string | null;
  readonly quorum?: Quorum;
}

/** TOO_FEW_LIVE_REPLICAS: raised before anything is written. */
const tooFewReplicas = 285;

class HttpStore implements Store {
  readonly kind: Store["kind"];
  readonly database: string;
  readonly cluster: string | null;
  private readonly parts: Parts;
  private readonly writes = new Writes();

  constructor(parts: Parts) {
    this.parts = parts;
    this.kind = parts.engine === null ? "server" : "embedded";
    this.database = parts.database;
    this.cluster = parts.cluster ?? null;
  }

  get restarts(): number {
    return this.parts.engine?.restarts ?? 0;
  }

  writesTo(tables: readonly string[]): number | null {
    const { engine } = this.parts;
    // Whether a dying engine still wrote something is known when it has restarted.
    return engine === null ? null : this.writes.of(tables) + engine.restarts;
  }

  async ddl(sql: string): Promise<void> {
    const wait = this.waiting("ddl");
    const search = new URLSearchParams(this.kind === "server" ? { ...progress, ...sizeOf(sql) } : {});
    await this.writes.anywhere(async () => readAll(await this.send(this.parts.owner, search, sql, wait), wait));
  }

  async insert(table: string, block: NativeBlock, options: InsertOptions): Promise<void> {
    await this.writes.to(table, () => this.insertWhole(table, block, options));
  }

  private async insertWhole(table: string, block: NativeBlock, options: InsertOptions): Promise<void> {
    if (this.cluster === null) return this.insertOnce(table, block, options, null);
    try {
      // The journal drops what was inserted, so a majority of the replicas must have it.
      await this.insertOnce(table, block, options, "auto");
    } catch (error) {
      const isShort = error instanceof StoreOutage && error.code === tooFewReplicas;
      if (!isShort || this.parts.quorum !== "available") throw error;
      await this.insertOnce(table, block, options, "0");
    }
  }

  async *stream(query: Query, options: ReadOptions & { readonly format: EngineFormat }): AsyncGenerator<Uint8Array> {
    const response = await this.read(query, options, options.format);
    yield* chunksOf(response, this.waiting("read", options.signal), options.asGuest === true);
  }

  async answer(query: Query, options: ReadOptions = {}): Promise<Answer> {
    const response = await this.read(query, options, typedRows);
    const rows = new JsonRows(options.asGuest === true ? guestRowBytesMax : undefined);
    const wait = this.waiting("read", options.signal);
    // The header comes before the first row, even if there are no rows.
    const chunks = await started(toJsonRows(chunksOf(response, wait, options.asGuest === true), rows));
    return { header: rows.header ?? { names: [], types: [] }, chunks };
  }

  async stats(): Promise<StoreStats> {
    const sql = `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes, count() AS parts FROM system.parts
      WHERE active AND database = {database:String} GROUP BY table ORDER BY table`;
    const tables = await readRows(this, tableStats, { sql, params: { database: this.database } });
    return { tables, load: this.parts.engine?.load ?? {} };
  }

  async ping(): Promise<boolean> {
    try {
      const options = { timeoutMs: silenceMs.ping, signal: AbortSignal.timeout(silenceMs.ping) };
      return (await readRow(withOptions(this, options), { one: int }, { sql: "SELECT 1 AS one" }))?.one === 1;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    this.parts.link.close();
    await this.parts.engine?.close();
  }

  private async insertOnce(
    table: string,
    block: NativeBlock,
    options: InsertOptions,
    quorum: string | null,
  ): Promise<void> {
    const columns = block.columns.map((name) => `\`${name}\``).join(", ");
    const search = new URLSearchParams({
      query: `INSERT INTO ${this.database}.${table} (${columns}) FORMAT Native`,
      insert_deduplication_token: options.token,
      async_insert: "0",
      // The writer drops duplicates itself; merging each block once more would make every insert slower.
      optimize_on_insert: "0",
    });
    if (quorum !== null) {
      search.set("distributed_foreground_insert", "1");
      search.set("insert_quorum", quorum);
    }
    const isThere = this.kind === "embedded" && options.file !== undefined;
    if (isThere) search.set("infile", options.file);
    const body = isThere ? "" : block.bytes;
    const wait = this.waiting("insert", options.signal);
    await readAll(await this.send(this.parts.owner, search, body, wait), wait);
  }

  private async read(query: Query, options: ReadOptions, format: string): Promise<IncomingMessage> {
    const { owner, guest } = this.parts;
    if (options.asGuest && guest === null) {
      throw new StoreOutage("refused", "SQL by people needs a guest user at the ClickHouse server");
    }
    const search = new URLSearchParams({ default_format: format });
    if (this.kind === "server") for (const [name, value] of Object.entries(outputSettings)) search.set(name, value);
    if (options.withoutCopies) search.set("final", "1");
    // A question over several tables of a cluster needs the rows of all shards.
    if (this.cluster !== null) search.set("distributed_product_mode", "global");
    if (this.kind === "server" && options.asGuest) search.set("output_format_json_validate_utf8", "1");
    if (options.timeoutMs !== undefined) search.set("max_execution_time", String(options.timeoutMs / 1000));
    if (options.rowsMax !== undefined) search.set("max_result_rows", String(options.rowsMax));
    if (options.memoryBytesMax !== undefined) search.set("max_memory_usage", String(options.memoryBytesMax));
    const placed = this.place(query, search);
    const sql = options.onlyRows === undefined ? placed : placed + this.filtersOf(options.onlyRows);
    const wait = this.waiting("read", options.signal);
    // A guest may change no setting, so its longest query is the server's usual one.
    if (this.kind === "server" && !options.asGuest)
      for (const [name, value] of Object.entries({ ...progress, ...sizeOf(sql) })) search.set(name, value);
    if (!options.asGuest) return this.send(owner, search, sql, wait);
    // On a server a query need not wait for its turn.
    if (this.kind === "server") options.onBegun?.();
    return this.send(guest as Account, search, sql, { ...wait, onBegun: options.onBegun }).catch((error) => {
      throw toGuestOutage(error);
    });
  }

  /** A session of the embedded engine takes values beside a query only in a statement of their own. */
  private place({ sql, params = {} }: Query, search: URLSearchParams): string {
    if (this.kind === "embedded") return writeParams(sql, params);
    const placed = placeParams(sql, params);
    for (const [name, text] of placed.beside) search.set(`param_${name}`, text);
    return placed.sql;
  }

  /** Written into the query: there may be more rows to name than an address takes. */
  private filtersOf(conditions: Readonly<Record<string, string>>): string {
    const suffix = this.cluster === null ? "" : "_local";
    const filters = Object.entries(conditions).map(
      ([table, condition]) => `${quote(`${this.database}.${table}${suffix}`)}: ${quote(condition)}`,
    );
    return `\nSETTINGS additional_table_filters = {${filters.join(", ")}}`;
  }

  private async send(
    account: Account,
    search: URLSearchParams,
    body: Uint8Array | string,
    wait: Waiting,
  ): Promise<IncomingMessage> {
    await this.parts.engine?.whenReady();
    return this.parts.link.send({ ...account, search, body, ...wait });
  }

  /** The embedded engine is a child of this process, which notices its end. */
  private waiting(what: keyof typeof silenceMs, signal?: AbortSignal): Waiting {
    return { silenceMsMax: this.kind === "embedded" ? 0 : silenceMs[what], signal };
  }
}

function sizeOf(sql: string): Record<string, string> {
  return sql.length > queryCharsUsual ? { max_query_size: String(sql.length * 4) } : {};
}

const memoryLimit = 241;

/** A guest's query has a memory limit of its own; repeating the query would exceed it again. */
function toGuestOutage(error: unknown): unknown {
  if (!(error instanceof StoreOutage) || error.code !== memoryLimit) return error;
  return new StoreOutage("too_large", error.message, { code: error.code, cause: error });
}

async function* chunksOf(response: IncomingMessage, wait: Waiting, isGuest: boolean): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of readChunks(response, wait)) yield chunk;
    checkTrailers(response);
  } catch (error) {
    const outage = toLinkOutage(error, wait.signal);
    throw isGuest ? toGuestOutage(outage) : outage;
  } finally {
    // A reader that stops early ends the query: the engine sees its connection close.
    if (!response.complete) response.destroy();
  }
}

/** Rows of more bytes than this are joined in a turn of their own. */
const largeRowBytes = 1024 * 1024;

async function* toJsonRows(chunks: AsyncIterable<Uint8Array>, rows: JsonRows): AsyncGenerator<Uint8Array> {
  const turn = new Turn();
  for await (const chunk of chunks) {
    const ready = rows.push(chunk);
    if (ready.length > largeRowBytes) await turn.pass();
    if (ready.length > 0) yield ready;
  }
}

// Counts the writes to the tables of a store that only this process writes to. As long as a number stays the same, no
// row has come or gone: a write counts when it begins and again when it ends, however it ends.

/** The summaries that an insert fills in the embedded engine, the only store whose writes are counted. */
const allSummaries: readonly Summary[] = [...summaries, paramsByKey];

class Writes {
  private everywhere = 0;
  private readonly perTable = new Map<string, number>();

  async to<T>(table: string, work: () => Promise<T>): Promise<T> {
    const tables = writtenWith(table);
    this.count(tables);
    return work().finally(() => this.count(tables));
  }

  /** A statement that may change any table. */
  async anywhere<T>(work: () => Promise<T>): Promise<T> {
    this.everywhere++;
    return work().finally(() => this.everywhere++);
  }

  of(tables: readonly string[]): number {
    return tables.reduce((sum, table) => sum + (this.perTable.get(table) ?? 0), this.everywhere);
  }

  private count(tables: readonly string[]): void {
    for (const table of tables) this.perTable.set(table, (this.perTable.get(table) ?? 0) + 1);
  }
}

const withSummaries = new Map<string, readonly string[]>();

/** A table and the summaries that the engine keeps of its rows, directly or by way of other summaries. */
function writtenWith(table: string): readonly string[] {
  const known = withSummaries.get(table);
  if (known !== undefined) return known;
  const fed = allSummaries.filter(({ sources }) => table in sources).flatMap(({ target }) => writtenWith(target.name));
  const tables = [...new Set([table, ...fed])];
  withSummaries.set(table, tables);
  return tables;
}
