// Settings of the embedded engine, and the two configuration files it reads from the data folder.
//
// chDB knows one user, `default`. It gets all its rights through a role, so that a guest lane can drop them: `SET ROLE
// guest` leaves only SELECT on the views for people. A lane cannot take the role back, because guest statements run
// through the streaming call, which takes a single SELECT and nothing else, under readonly = 1.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "./session-lane.ts";

/** What a session is for. The guest runs SQL that people write. */
export type Purpose = "read" | "write" | "define" | "guest" | "control";

export interface EngineFolders {
  /** chDB's own folder. */
  readonly store: string;
  /** Bodies of running inserts. */
  readonly tmp: string;
  readonly config: string;
}

export const guestUser = "guest";
const guestDatabase = "tributary_sql";

const usersConfig = `<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <roles>
    <keeper><grants><query>GRANT ALL ON *.*</query></grants></keeper>
    <guest><grants><query>GRANT SELECT ON ${guestDatabase}.*</query></grants></guest>
  </roles>
  <users>
    <default>
      <password></password>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants><query>GRANT keeper, guest</query></grants>
    </default>
  </users>
</clickhouse>
`;

/** The only folders that the engine writes to. */
export function ownFolders(dataDir: string): EngineFolders {
  return { store: join(dataDir, "store"), tmp: join(dataDir, "tmp"), config: join(dataDir, "engine") };
}

/**
 * How many parts of similar size are merged into one: rows that arrive little by little are rewritten once for every
 * power of it. Questions read a few more parts in return.
 */
const mergeConfig = "<merge_tree><merge_selector_base>10</merge_selector_base></merge_tree>";

/**
 * Nothing here reads a table as a stream, yet the engine would ask each of its dozens of tables for such work about twice a
 * second, for minutes after a start. This is the first pause in seconds, and the longest one that it takes.
 */
const rest = "background_streaming_processing_pool_thread_sleep_seconds_if_nothing_to_do";
const restConfig = `<${rest}>600</${rest}>`;

export function prepareFolders(dataDir: string): EngineFolders {
  const folders = ownFolders(dataDir);
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const users = join(folders.config, "users.xml");
  writeWhereOther(users, usersConfig);
  const main = `<clickhouse><users_config>${escapeXml(users)}</users_config>${mergeConfig}${restConfig}</clickhouse>\n`;
  writeWhereOther(join(folders.config, "config.xml"), main);
  return folders;
}

/** A server must start even if its disk is full, so a file that is right already is not written again. */
function writeWhereOther(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  writeFileSync(path, text, { mode: 0o600 });
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

export function laneArgs(folders: EngineFolders, memoryBytesMax: number): string[] {
  return [
    `--config-file=${join(folders.config, "config.xml")}`,
    `--max_server_memory_usage=${memoryBytesMax}`,
    "--mark_cache_size=134217728",
    "--max_parts_cleaning_thread_pool_size=2",
  ];
}

/**
 * The engine expects a gibibyte for each thread by default, and would use one thread wherever it may have no more than
 * two gibibytes.
 */
const threadBytes = 128 << 20;

/** Compiling a question's expressions takes longer than most questions do, so only frequent ones are compiled. */
const askedUntilCompiled = "100";
const compileSettings = [
  "min_count_to_compile_expression",
  "min_count_to_compile_aggregate_expression",
  "min_count_to_compile_sort_description",
] as const;

export function laneSettings(purpose: Purpose, memoryBytesMax: number): Settings {
  return new Map<string, string>([
    ["output_format_json_quote_64bit_integers", "1"],
    ["output_format_json_quote_denormals", "1"],
    ["output_format_json_escape_forward_slashes", "0"],
    ["async_insert", "0"],
    ...compileSettings.map((name) => [name, askedUntilCompiled] as const),
    // If a file system cannot say whether a read would block, each read would be handed to another thread.
    ["local_filesystem_read_method", "pread"],
    ["max_threads_min_free_memory_per_thread", String(threadBytes)],
    ["max_query_size", String(64 << 20)],
    ["max_memory_usage", String(Math.floor(memoryBytesMax / 2))],
    ["max_execution_time", purpose === "read" ? "60" : "0"],
  ]);
}

/** The limits of a query that a person writes. */
export interface GuestLimits {
  readonly timeoutMs: number;
  readonly memoryBytesMax: number;
  readonly rowsMax: number;
}

/** `readonly` comes last: after it, nothing can be set on the lane. */
const guestOpening = (limits: GuestLimits): readonly string[] => [
  `CREATE DATABASE IF NOT EXISTS ${guestDatabase} ENGINE = Atomic`,
  `USE ${guestDatabase}`,
  "SET ROLE guest",
  `SET ${[
    `max_execution_time = ${limits.timeoutMs / 1000}`,
    `max_memory_usage = ${limits.memoryBytesMax}`,
    "max_rows_to_read = 1000000000",
    `max_result_rows = ${limits.rowsMax}`,
    "max_result_bytes = 1000000000",
    "result_overflow_mode = 'throw'",
    "max_ast_depth = 500",
    "max_ast_elements = 20000",
    "max_columns_to_read = 1000",
    "max_subquery_depth = 20",
    "max_threads = 2",
    // The bytes of a fault need not be text, and the answer must be JSON all the same.
    "output_format_json_validate_utf8 = 1",
    "readonly = 1",
  ].join(", ")}`,
];

export function laneOpening(purpose: Purpose, limits: GuestLimits): readonly string[] {
  return purpose === "guest" ? guestOpening(limits) : [];
}
