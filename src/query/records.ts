// Lists of what a run received: logs, params, files, faults.

import { type FaultCode, faultKinds } from "#model/fault.ts";
import { readStoredFiles } from "#store/reader/blobs.ts";
import * as reader from "#store/reader/records.ts";
import type { Sources } from "./sources.ts";

export type { FaultFilter, LogFilter } from "#store/reader/records.ts";

export async function listLogs({ store }: Sources, filter: reader.LogFilter) {
  const [rows, levels] = await Promise.all([reader.readLogs(store, filter), reader.readLogLevels(store, filter)]);
  return { rows, levels: Object.fromEntries(levels.map(({ level, count }) => [level, count])) };
}

/** The latest value of each param, with the others that it had. */
export async function listParams({ store }: Sources, groups: readonly string[]) {
  const byName = Map.groupBy(await reader.readParams(store, groups), (row) => row.name);
  return [...byName.values()].map((values) => {
    const last = values.at(-1) as (typeof values)[number];
    const earlier = values.slice(0, -1).map(({ value, ts_ns, worker }) => ({ value, ts_ns, worker }));
    // The same value again, as every worker of a run sends it, is no change.
    return { ...last, earlier: earlier.filter((one) => one.value !== last.value) };
  });
}

/** Files that the run named, by their times, and all that are stored under one of its names. */
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
  return { named, stored };
}

export function listCheckpoints({ store }: Sources, page: reader.PageOf) {
  return reader.readCheckpoints(store, page);
}

export async function listFaults({ store }: Sources, filter: reader.FaultFilter) {
  const [rows, codes] = await Promise.all([reader.readFaults(store, filter), reader.readFaultCodes(store, filter)]);
  return {
    rows: rows.map((row) => ({ ...row, ...explain(row.code) })),
    codes: Object.fromEntries(codes.map(({ code, count }) => [code, count])),
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
