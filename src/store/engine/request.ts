// A request of the ClickHouse HTTP protocol, taken apart. URL parameters are `query`, `database`,
// `default_format`, `param_<name>`, and otherwise settings of the statement. One is our own: `infile` names a file
// that holds the data of an INSERT, which then need not come through the socket.

import type { IncomingMessage } from "node:http";
import type { Settings } from "./session-lane.ts";

export interface EngineRequest {
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

export function parseRequest(request: IncomingMessage): EngineRequest {
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
