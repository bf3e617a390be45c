// What applied events say about commands: statuses, checkpoints, ends and answers of workers, whichever way they came.

import { parseJson } from "#base/json/parse.ts";
import type { JsonObject } from "#base/json/value.ts";
import type { WorkerNews } from "#control/confirm.ts";
import type { AnyTablePart, TablePart } from "#model/batch.ts";
import type { GroupName, RunId } from "#model/names.ts";

/**
 * `runOf` gives the run of a group. A copy of a known event says nothing new, except an answer to a command: its first
 * copy may have been stored by a process that was killed before it recorded the effect.
 */
export function toWorkerNews(
  parts: readonly AnyTablePart[],
  workspace: string,
  runOf: (groupKey: GroupName) => RunId | undefined,
): WorkerNews[] {
  return parts.flatMap((part) => (part.table === "events" ? fromEvents(part, workspace, runOf) : []));
}

function fromEvents(
  { rows, dropped }: TablePart<"events">,
  workspace: string,
  runOf: (groupKey: GroupName) => RunId | undefined,
): WorkerNews[] {
  const found: WorkerNews[] = [];
  for (let row = 0; row < rows.type.length; row++) {
    if (rows.protocol.at(row) !== "xtrack") continue;
    const type = rows.type.at(row);
    if (type !== "status" && type !== "checkpoint" && type !== "run_end" && type !== "ack") continue;
    if (dropped?.[row] === 1 && type !== "ack") continue;
    const runId = runOf(rows.group_key.at(row));
    if (runId === undefined) continue;
    const news = toNews(type, { workspace, runId, worker: rows.worker.at(row) }, rows.payload.bytesAt(row));
    if (news !== undefined) found.push(news);
  }
  return found;
}

function toNews(
  type: "status" | "checkpoint" | "run_end" | "ack",
  who: { readonly workspace: string; readonly runId: string; readonly worker: string },
  json: Uint8Array,
): WorkerNews | undefined {
  if (type === "checkpoint") return { ...who, kind: "checkpoint" };
  const parsed = parseJson(json);
  if (!parsed.ok) return undefined;
  const payload = parsed.value as JsonObject;
  const status = toText(payload["status"]);
  if (type !== "ack") return { ...who, kind: type, status };
  const cmdId = toText(payload["cmd_id"]);
  return cmdId === "" ? undefined : { ...who, kind: "ack", cmdId, ...toAnswer(status, toText(payload["error"])) };
}

/** What the two words of an ack mean. */
export function toAnswer(status: string, error: string): { readonly isOk: boolean; readonly error: string } {
  return { isOk: status !== "error", error };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
