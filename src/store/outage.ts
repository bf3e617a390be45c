// What the store throws when it cannot answer. Errors are classified here once, by code; callers ask `retryable`, never
// the text.

import { DiskOutage } from "#base/disk-outage.ts";

/**
 * `engine_down`: no engine to talk to, or it went away during the call; it comes back by itself.
 * `overloaded`: too much at once, or memory is short.
 * `timeout`, `cancelled`, `too_large`: a limit the caller set or the engine has; the same call will meet it again.
 * `refused`: the statement itself is wrong or not allowed.
 * `folder_taken`: another process owns the data folder. `closed`: ours was closed.
 */
export type OutageKind =
  | "engine_down"
  | "overloaded"
  | "timeout"
  | "cancelled"
  | "too_large"
  | "refused"
  | "folder_taken"
  | "closed";

const retryableKinds: ReadonlySet<OutageKind> = new Set(["engine_down", "overloaded"]);

export class StoreOutage extends Error {
  override readonly name = "StoreOutage";
  readonly kind: OutageKind;
  /** ClickHouse's error code; 0 when the engine gave none. */
  readonly code: number;

  constructor(kind: OutageKind, message: string, options: { readonly code?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.code = options.code ?? 0;
  }

  /** The same call may succeed later and is safe to repeat (inserts: with the same token). */
  get retryable(): boolean {
    return retryableKinds.has(this.kind);
  }
}

export function isRetryable(error: unknown): boolean {
  return error instanceof StoreOutage && error.retryable;
}

/** NOT_ENOUGH_SPACE. */
const noSpace = 243;

/** Whether the disk of the store, or of the outbox before it, is full. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof DiskOutage) return error.kind === "disk_full";
  return error instanceof StoreOutage && error.code === noSpace;
}

const kindOfCode: ReadonlyMap<number, OutageKind> = new Map([
  // Trouble of the moment: sockets, keepers, replicas, disks, load.
  [3, "engine_down"], // UNEXPECTED_END_OF_FILE of a connection
  [198, "engine_down"], // DNS_ERROR
  [209, "engine_down"], // SOCKET_TIMEOUT
  [210, "engine_down"], // NETWORK_ERROR
  [225, "engine_down"], // NO_ZOOKEEPER
  [236, "engine_down"], // ABORTED: the server is shutting down
  [242, "engine_down"], // TABLE_IS_READ_ONLY
  [noSpace, "overloaded"],
  [252, "overloaded"], // TOO_MANY_PARTS
  [279, "engine_down"], // ALL_CONNECTION_TRIES_FAILED
  [285, "engine_down"], // TOO_FEW_LIVE_REPLICAS
  [319, "engine_down"], // UNKNOWN_STATUS_OF_INSERT
  [999, "engine_down"], // KEEPER_EXCEPTION
  [202, "overloaded"], // TOO_MANY_SIMULTANEOUS_QUERIES
  [241, "overloaded"], // MEMORY_LIMIT_EXCEEDED
  [74, "overloaded"], // CANNOT_READ_FROM_FILE_DESCRIPTOR: a disk that fails, as for the next two
  [75, "overloaded"], // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  [76, "overloaded"], // CANNOT_OPEN_FILE: also when too many are open
  [573, "overloaded"], // EPOLL_ERROR: too many files are open
  [439, "overloaded"], // CANNOT_SCHEDULE_TASK
  [745, "overloaded"], // SERVER_OVERLOADED
  [159, "timeout"], // TIMEOUT_EXCEEDED
  [160, "timeout"], // TOO_SLOW
  [394, "cancelled"], // QUERY_WAS_CANCELLED
  [158, "too_large"], // TOO_MANY_ROWS
  [161, "too_large"], // TOO_MANY_COLUMNS
  [307, "too_large"], // TOO_MANY_BYTES
  [396, "too_large"], // TOO_MANY_ROWS_OR_BYTES
]);

/** The outage for an error answer. `status` distinguishes trouble of a proxy in between from the engine's own. */
export function outageOfAnswer(status: number, code: number, text: string): StoreOutage {
  const known = kindOfCode.get(code);
  const byStatus: OutageKind = code === 0 && [502, 503, 504].includes(status) ? "engine_down" : "refused";
  return new StoreOutage(known ?? byStatus, text.trim().slice(0, 4000), { code });
}
