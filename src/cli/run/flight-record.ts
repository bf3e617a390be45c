// What a PyTorch job leaves when it dies: the flight recorder's dump of each rank, and torchelastic's error file. They are
// read here, where the files are, and sent as records of the run. A dump is a pickle; it is read without running any of it.

import { mkdtempSync } from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PickleValue, readPickle } from "#base/pickle.ts";

export interface LeftRecord {
  readonly type: "error_report" | "flight_record" | "flight_record_refused";
  readonly payload: Record<string, unknown>;
}

const filesMax = 1024;
const fileBytesMax = 256 * 1024 * 1024;
/** Only the last entries: what came long before the end does not show where the job hung. */
const entriesMax = 400;

/** A folder for what this run leaves; null if none can be made, which does not keep the program from running. */
export function createLeftFolder(): string | null {
  try {
    return mkdtempSync(join(tmpdir(), "tributary-left-"));
  } catch {
    return null;
  }
}

/** Makes PyTorch write its flight records and error file there, unless the person has said otherwise. */
export function toRecorderEnv(folder: string | null): Record<string, string> {
  if (folder === null) return {};
  const dump = join(folder, "flight_rank_");
  return {
    TORCH_FR_BUFFER_SIZE: "2000",
    TORCH_NCCL_TRACE_BUFFER_SIZE: "2000",
    TORCH_NCCL_DUMP_ON_TIMEOUT: "1",
    TORCH_FR_DUMP_TEMP_FILE: dump,
    TORCH_NCCL_DEBUG_INFO_TEMP_FILE: dump,
    TORCHELASTIC_ERROR_FILE: join(folder, "error.json"),
    PYTHONFAULTHANDLER: "1",
  };
}

/** Reads what is there, and removes the folder. */
export async function gatherLeft(folder: string | null): Promise<LeftRecord[]> {
  if (folder === null) return [];
  try {
    const names = (await readdir(folder)).sort().slice(0, filesMax);
    const found = names.map((name) =>
      readLeft(join(folder, name), name).catch((error: Error) => refused(name, error.message)),
    );
    return (await Promise.all(found)).filter((record) => record !== null);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readLeft(path: string, name: string): Promise<LeftRecord | null> {
  const { size } = await stat(path);
  if (size === 0) return null;
  if (size > fileBytesMax) return refused(name, "it is too large");
  if (name === "error.json") return toErrorReport(await readFile(path, "utf8"));
  const rank = /(\d+)$/.exec(name)?.[1];
  if (rank === undefined) return null;
  return { type: "flight_record", payload: toFlightRecord(Number(rank), readPickle(await readFile(path))) };
}

function refused(name: string, why: string): LeftRecord {
  return { type: "flight_record_refused", payload: { reason: `The flight record ${name} was not read: ${why}` } };
}

/** `{"message": {"message": …, "extraInfo": {"py_callstack": …, "timestamp": seconds}}}`, or a plain message. */
export function toErrorReport(text: string): LeftRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { type: "error_report", payload: { message: text.slice(0, 4096) } };
  }
  const { message } = (value ?? {}) as { message?: unknown };
  if (typeof message === "string") return { type: "error_report", payload: { message } };
  const { message: said, extraInfo } = (message ?? {}) as { message?: unknown; extraInfo?: Record<string, unknown> };
  if (typeof said !== "string") return null;
  const seconds = Number(extraInfo?.["timestamp"]);
  return {
    type: "error_report",
    payload: {
      message: said,
      ...(typeof extraInfo?.["rank"] === "number" ? { rank: extraInfo["rank"] } : {}),
      ...(typeof extraInfo?.["py_callstack"] === "string" ? { traceback: extraInfo["py_callstack"] } : {}),
      ...(Number.isFinite(seconds) && seconds > 0
        ? { ts_ns: String(BigInt(Math.round(seconds)) * 1_000_000_000n) }
        : {}),
    },
  };
}

/** The part that is needed to align the records of all ranks. */
export function toFlightRecord(rank: number, dump: PickleValue): Record<string, unknown> {
  const all = member(dump, "entries");
  const entries = Array.isArray(all) ? all : [];
  const told = entries.filter(isCollective).slice(-entriesMax).map(toEntry);
  return { rank, groups: toGroups(member(dump, "pg_config"), told), entries: told };
}

/** The ranks of each process group. If there is only one, gloo leaves out its name. */
function toGroups(config: PickleValue | undefined, entries: readonly { readonly group: string }[]) {
  const groups: Record<string, number[]> = {};
  const names = new Set(entries.map(({ group }) => group));
  if (config instanceof Map)
    for (const [id, one] of config) {
      const name = String(member(one, "name") ?? id);
      const [only = name] = name === "" && names.size === 1 ? names : [];
      groups[only] = toRanks(member(one, "ranks"));
    }
  return groups;
}

function isCollective(entry: PickleValue): boolean {
  return member(entry, "is_p2p") !== true;
}

function toEntry(entry: PickleValue) {
  const [name] = [member(entry, "process_group")].flat() as PickleValue[];
  const frames = member(entry, "frames");
  const [frame] = Array.isArray(frames) ? frames : [];
  const shape = [textOf(member(entry, "input_sizes")), textOf(member(entry, "input_dtypes"))].filter(
    (part) => part !== "",
  );
  return {
    group: String(name ?? member(entry, "pg_id") ?? ""),
    seq: Number(member(entry, "collective_seq_id") ?? member(entry, "seq_id") ?? 0),
    op: String(member(entry, "profiling_name") ?? ""),
    state: toState(entry),
    shape: shape.join(" ").slice(0, 200),
    frame:
      frame === undefined
        ? ""
        : `${textOf(member(frame, "filename"))}:${textOf(member(frame, "line"))} ${textOf(member(frame, "name"))}`,
  };
}

/** Gloo reports every collective as scheduled, and finished ones, successful or not, as retired. */
function toState(entry: PickleValue): string {
  const state = String(member(entry, "state") ?? "");
  return state === "scheduled" && member(entry, "retired") === true ? "ended" : state;
}

function member(value: PickleValue | undefined, key: string): PickleValue | undefined {
  return value instanceof Map ? value.get(key) : undefined;
}

/** A list of numbers, or such a list as text. */
function toRanks(value: PickleValue | undefined): number[] {
  if (typeof value === "string") return (value.match(/\d+/g) ?? []).map(Number);
  return Array.isArray(value) ? value.map(Number).filter(Number.isInteger) : [];
}

function textOf(value: PickleValue | undefined): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  return String(value);
}
