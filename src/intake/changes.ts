// Changes of the small tables as journal records: keys, edits, commands, audit lines. A record holds the rows
// themselves, so that applying it again gives the same state; a deletion names the runs and their groups.

import { formatJson } from "#base/json/format.ts";
import { parseJson } from "#base/json/parse.ts";
import type { JsonValue } from "#base/json/value.ts";
import { type StateChange, stateTables } from "#model/state-tables.ts";
import { nothingApplied } from "./applied.ts";
import { type Input, ownArrival } from "./input.ts";
import type { InputKind } from "./input-kind.ts";

export interface ChangeInput extends Input {
  readonly kind: "change";
  readonly change: "state" | "delete";
  readonly author: string;
}

export interface DeletedRun {
  readonly runId: string;
  readonly groupKeys: readonly string[];
}

export const changeInputs: InputKind<ChangeInput> = {
  kind: "change",
  decode(input) {
    const told = input.change === "delete" ? toDeletionRows(input) : decodeChanges(input.body);
    return {
      prepare: () => null,
      apply({ joins }) {
        const parted = (deletedBy(input) ?? []).flatMap(({ runId }) =>
          joins.toParted(input.workspace, runId, input.receivedNs),
        );
        const state = [...told, ...parted];
        for (const change of state) if (change.table === "joins") joins.note(change.row);
        return { ...nothingApplied, state, accepted: 1 };
      },
    };
  },
};

export function toChangeInput(changes: readonly StateChange[], workspace: string, author: string): ChangeInput {
  return { ...ownArrival(workspace), kind: "change", change: "state", author, body: encodeChanges(changes) };
}

export function toDeletionInput(runs: readonly DeletedRun[], workspace: string, author: string): ChangeInput {
  const body = new TextEncoder().encode(JSON.stringify({ runs }));
  return { ...ownArrival(workspace), kind: "change", change: "delete", author, body };
}

/** The runs that an input deletes; null when it is not a deletion. */
export function deletedBy(input: Input): readonly DeletedRun[] | null {
  return input.kind === changeInputs.kind && (input as ChangeInput).change === "delete" ? decodeDeletion(input) : null;
}

function decodeDeletion({ body }: Input): readonly DeletedRun[] {
  return (JSON.parse(new TextDecoder().decode(body)) as { runs: DeletedRun[] }).runs;
}

/** A newer version of each group that says when it was deleted, and a line of the audit log. */
function toDeletionRows(input: ChangeInput): StateChange[] {
  const { workspace, receivedNs, author } = input;
  const gone = { session_id: "", root_kind: "", rank: 0, pipeline_id: null, deployment_id: null, model_id: null };
  const flags = { forked: 0, imported: 0, deleted_ns: receivedNs, version: receivedNs };
  return decodeDeletion(input).flatMap(({ runId, groupKeys }, at): StateChange[] => {
    const row = { workspace, protocol: "deleted", run_id: runId, ...gone, ...flags };
    const hidden = groupKeys.map((group_key): StateChange => ({ table: "groups", row: { ...row, group_key } }));
    const audit = { workspace, at_ns: receivedNs + BigInt(at), author, action: "run_deleted", subject: runId };
    return [...hidden, { table: "audit", row: { ...audit, detail: "{}", version: receivedNs } }];
  });
}

export function encodeChanges(changes: readonly StateChange[]): Uint8Array {
  return new TextEncoder().encode(formatJson(changes as unknown as JsonValue, "lossless"));
}

/** Rows of tables or columns that this version does not know are left out. */
export function decodeChanges(body: Uint8Array): StateChange[] {
  const parsed = parseJson(body);
  if (!parsed.ok || !Array.isArray(parsed.value)) return [];
  return parsed.value.flatMap((entry) => {
    const { table, row } = entry as { table: string; row: Record<string, JsonValue> };
    if (!Object.hasOwn(stateTables, table)) return [];
    const columns = stateTables[table as keyof typeof stateTables] as Record<string, string>;
    const cells = Object.entries(columns).map(([name, type]) => [name, toCell(row[name], type)] as const);
    return [{ table, row: Object.fromEntries(cells) } as unknown as StateChange];
  });
}

function toCell(value: JsonValue | undefined, type: string): unknown {
  if (type.startsWith("Nullable(")) return value == null ? null : toCell(value, type.slice(9, -1));
  if (type === "Int64") return BigInt((value ?? 0) as number | bigint);
  if (type === "String" || type === "LowCardinality(String)") return (value ?? "") as string;
  return Number(value ?? 0);
}
