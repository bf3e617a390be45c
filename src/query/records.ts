// Lists of what a run received: logs, params, files, faults.

import { Turn } from "#base/turns.ts";
import { type FaultCode, faultKinds } from "#model/fault.ts";
import { readStoredFiles } from "#store/reader/blobs.ts";
import { shownBytesMax } from "#store/reader/cut-text.ts";
import * as reader from "#store/reader/records.ts";
import { readRunsOfGroups } from "#store/reader/run-names.ts";
import type { Sources } from "./sources.ts";

export const { readCheckpoints } = reader;
export type { FaultFilter, LogFilter } from "#store/reader/records.ts";

export async function listLogs({ store }: Sources, filter: reader.LogFilter) {
  const [rows, levels] = await Promise.all([reader.readLogs(store, filter), reader.readLogLevels(store, filter)]);
  return { rows, levels: Object.fromEntries(levels) };
}

/** The latest value of each param, with the others that it had. */
export async function listParams({ store }: Sources, groups: readonly string[]) {
  const rows = await reader.readParams(store, groups);
  const turn = new Turn();
  const params: ReturnType<typeof toParam>[] = [];
  // They are sorted by name.
  for (let from = 0; from < rows.length; ) {
    let to = from + 1;
    while (rows[to]?.name === rows[from]?.name) to++;
    params.push(toParam(rows.slice(from, to)));
    from = to;
    if (turn.isOver) await turn.pass();
  }
  return params;
}

type ParamValueRow = Awaited<ReturnType<typeof reader.readParams>>[number];

/** All values that one param had, in order. */
function toParam(values: readonly ParamValueRow[]) {
  const { value_hash: lastHash, ...last } = values.at(-1) as ParamValueRow;
  // The same value again, as every worker of a run sends it, is not a change.
  const earlier = values.slice(0, -1).filter(({ value_hash }) => value_hash !== lastHash);
  return {
    ...withCut(last),
    earlier: earlier.map(({ id, value, value_bytes, ts_ns, worker }) =>
      withCut({ id, value, value_bytes, ts_ns, worker }),
    ),
  };
}

/** A value that is only shown in part says how large it is. */
function withCut<T extends { readonly value_bytes: number }>({ value_bytes, ...row }: T) {
  return value_bytes > shownBytesMax ? { ...row, cut_from: value_bytes } : row;
}

/**
 * A page of the files that the run named, by time; the files stored under one of its names; and, with the last page, the
 * stored files that it never named.
 */
export async function listArtifacts(
  { store }: Sources,
  workspace: string,
  names: readonly string[],
  page: reader.PageOf,
) {
  const [named, stored] = await Promise.all([
    reader.readArtifacts(store, page),
    readStoredFiles(store, workspace, names),
  ]);
  if (named.length === page.limit || stored.length === 0) return { named, stored, unnamed: [] };
  const files = stored.map(({ name }) => name);
  // The first page is all of them when it is the last.
  const known = page.after === null ? named.map(({ name }) => name) : await reader.readNamed(store, page.groups, files);
  return { named, stored, unnamed: stored.filter(({ name }) => !known.includes(name)) };
}

export async function listFaults({ store }: Sources, filter: reader.FaultFilter) {
  const [rows, codes] = await Promise.all([reader.readFaults(store, filter), reader.readFaultCodes(store, filter)]);
  const groups = [...new Set(rows.map(({ group_key }) => group_key))].filter((group) => group !== "");
  const found = groups.length === 0 ? [] : await readRunsOfGroups(store, filter.workspace, groups);
  const runOf = new Map(found.map(({ groupKey, run }) => [groupKey, run]));
  return {
    rows: rows.map(({ group_key, ...row }) => ({ ...row, run: runOf.get(group_key) ?? null, ...explain(row.code) })),
    codes: Object.fromEntries(codes),
  };
}

function explain(code: string): { means: string; hint: string } {
  const kind = Object.hasOwn(faultKinds, code) ? faultKinds[code as FaultCode] : null;
  return { means: kind?.means ?? "", hint: kind?.hint ?? "" };
}

/** The bytes that could not be understood. */
export async function readFaultBytes({ store }: Sources, workspace: string, id: string): Promise<Uint8Array | null> {
  const raw = await reader.readFaultRaw(store, workspace, id);
  return raw === null ? null : Buffer.from(raw, "base64");
}
