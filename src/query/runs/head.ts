// The head of a run: what stored facts say about its status, times and names. Everything is worked out when
// it is read, so that any order of arrival, a replay or a restart ends in the same answer.

import type { SenderNs, ServerNs } from "#base/clock.ts";
import { formatJson } from "#base/json/format.ts";
import { parseJson } from "#base/json/parse.ts";
import { isJsonObject, type JsonValue } from "#base/json/value.ts";
import type { GroupName } from "#model/names.ts";
import { hasTrait } from "#protocol/facts.ts";
import type { EndFact, StartFact, StatusFact } from "#store/reader/heads.ts";
import type { RunFacts } from "#store/reader/run-facts.ts";

export const runStatuses = ["running", "completed", "failed", "killed", "lost", "unknown"] as const;
export type RunStatus = (typeof runStatuses)[number];

export interface HeadContext {
  readonly nowNs: ServerNs;
  /** Without an end, a run is running while its last arrival is younger than this. */
  readonly silenceNs: bigint;
  /** Groups with an open connection. */
  readonly isConnected: (groupKey: GroupName) => boolean;
}

export interface RunHead {
  readonly status: RunStatus;
  readonly statusRaw: string;
  readonly startNs: SenderNs | null;
  readonly endNs: SenderNs | null;
  readonly lastReceivedNs: ServerNs;
  readonly name: string;
  readonly experiment: string;
  readonly parent: string;
  readonly tags: readonly string[];
  readonly errorType: string;
  readonly errorMessage: string;
  readonly progress: { current: number; total: number | null; unit: string; message: string } | null;
  readonly workers: readonly string[];
  /** host, user, commit and branch; what is not known is absent. */
  readonly source: Readonly<Partial<Record<"host" | "user" | "commit" | "branch", string>>>;
}

export function toRunHead(facts: RunFacts, context: HeadContext): RunHead {
  return judgeRun(facts, context).head;
}

/** `silence` is what decides about the run while nothing says how it ended; null when the facts alone do. */
export function judgeRun(facts: RunFacts, context: HeadContext): { head: RunHead; silence: Silence | null } {
  const said = judge(facts);
  if (said !== null) return { head: toHead(facts, said), silence: null };
  const silence = toSilence(facts);
  return { head: toHead(facts, judgeSilence(silence, context)), silence };
}

function toHead(facts: RunFacts, conclusion: Conclusion): RunHead {
  const firsts = facts.groups.flatMap((group) => (group.firstNs === null ? [] : [group.firstNs]));
  const start = earliestStart(facts);
  return {
    status: conclusion.status,
    statusRaw: conclusion.raw,
    startNs: smallest(firsts),
    endNs: conclusion.status === "running" ? null : lastTime(facts),
    lastReceivedNs: largest(facts.groups.map((group) => group.lastReceivedNs)) ?? 0n,
    name: start?.name || facts.wrappers[0]?.name || "",
    experiment: start?.experiment ?? "",
    parent: start?.parent ?? "",
    tags: toTags(start?.tags ?? ""),
    errorType: conclusion.errorType,
    errorMessage: conclusion.errorMessage,
    progress: toProgress(facts.statuses),
    workers: workersOf(facts),
    source: {
      ...present("host", start?.host),
      ...present("commit", start?.commit),
      ...present("branch", start?.branch),
    },
  };
}

/** The status of a run that has not ended depends on the time, on its connections and on these facts. */
export interface Silence {
  readonly groupKeys: readonly string[];
  /** Of groups that did not come by import; null when all did. */
  readonly lastArrivalNs: ServerNs | null;
  /** Nothing of it would have said that it has ended, or only an end in order. */
  readonly mayHaveEnded: "never_told" | "told_in_order" | "told";
  readonly raw: string;
  /** By the clients' clocks. */
  readonly lastNs: SenderNs | null;
}

/** The head of a run without an end at another moment; the same one when nothing about it is different. */
export function headAt(head: RunHead, silence: Silence, context: HeadContext): RunHead {
  const { status } = judgeSilence(silence, context);
  return status === head.status ? head : { ...head, status, endNs: status === "running" ? null : silence.lastNs };
}

function toSilence(facts: RunFacts): Silence {
  const live = facts.groups.filter((group) => !group.imported);
  return {
    groupKeys: facts.groups.map((group) => group.groupKey),
    lastArrivalNs: largest(live.map((group) => group.lastReceivedNs)),
    mayHaveEnded: toEnding(facts),
    raw: latestStatus(facts.statuses)?.status ?? "",
    lastNs: lastTime(facts),
  };
}

function toEnding({ groups }: RunFacts): Silence["mayHaveEnded"] {
  const others = groups.filter((group) => !hasTrait(group.protocol, "unended"));
  if (others.length === 0) return "never_told";
  return others.every((group) => hasTrait(group.protocol, "sessions")) ? "told_in_order" : "told";
}

interface Conclusion {
  readonly status: RunStatus;
  readonly raw: string;
  readonly errorType: string;
  readonly errorMessage: string;
}

const noError = { errorType: "", errorMessage: "" };

/** The order of evidence: exit code, run_end of every worker, pipeline_end, session span, then silence. */
function judge(facts: RunFacts): Conclusion | null {
  return judgeWrapper(facts) ?? judgeXtrack(facts) ?? judgePipeline(facts) ?? judgeCirron(facts);
}

/** What a program brings upon itself, unlike a signal that somebody sends it. */
const crashSignals: ReadonlySet<string> = new Set([
  "SIGSEGV",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGSYS",
  "SIGTRAP",
]);

function judgeWrapper(facts: RunFacts): Conclusion | null {
  const last = facts.wrappers.toSorted((a, b) => Number(a.startNs - b.startNs)).at(-1);
  if (last === undefined || last.endNs === null) return null;
  const error = judgeXtrack(facts);
  const detail = { errorType: error?.errorType ?? "", errorMessage: error?.errorMessage ?? "" };
  if (last.signal !== "" && !crashSignals.has(last.signal)) return { status: "killed", raw: last.signal, ...detail };
  if (last.exitCode === 0) return { status: "completed", raw: "exit 0", ...noError };
  const how = last.signal === "" ? `exited with code ${last.exitCode}` : `crashed with ${last.signal}`;
  const message = detail.errorMessage || `The program ${how}.`;
  const raw = last.signal === "" ? `exit ${last.exitCode}` : last.signal;
  return { status: "failed", raw, errorType: detail.errorType, errorMessage: message };
}

function judgeXtrack(facts: RunFacts): Conclusion | null {
  const end = decidingEnd(facts);
  if (end === null) return null;
  const { status, errorType, errorMessage } = end;
  return { status: toStatus(status), raw: status, errorType, errorMessage };
}

/**
 * A run ends when every worker that started has ended its latest incarnation; one failed worker fails it. The end that
 * says how, null while the run goes on.
 */
export function decidingEnd(facts: Pick<RunFacts, "starts" | "ends">): EndFact | null {
  if (facts.starts.length === 0 && facts.ends.length === 0) return null;
  const workers = new Map<string, { started: bigint; end: EndFact | null }>();
  for (const { groupKey, worker, tsNs } of facts.starts) {
    const key = `${groupKey}\n${worker}`;
    const known = workers.get(key);
    if (known === undefined || tsNs > known.started) workers.set(key, { started: tsNs, end: null });
  }
  for (const end of facts.ends) {
    const key = `${end.groupKey}\n${end.worker}`;
    const known = workers.get(key) ?? { started: end.tsNs, end: null };
    // An end from before the latest start belongs to an earlier incarnation.
    if (end.tsNs >= known.started && (known.end === null || end.tsNs >= known.end.tsNs)) known.end = end;
    workers.set(key, known);
  }
  const ends = [...workers.values()].map(({ end }) => end);
  if (ends.length === 0 || ends.includes(null)) return null;
  const all = ends as EndFact[];
  const worst =
    all.find((end) => toStatus(end.status) === "failed") ?? all.find((end) => toStatus(end.status) === "killed");
  return worst ?? all.find((end) => toStatus(end.status) === "unknown") ?? (all[0] as EndFact);
}

function toStatus(word: string): RunStatus {
  if (word === "completed" || word === "failed" || word === "killed") return word;
  // Clients send other words too; those that plainly mean one of ours are read so.
  if (word === "cancelled" || word === "canceled" || word === "aborted") return "killed";
  return "unknown";
}

function judgePipeline(facts: RunFacts): Conclusion | null {
  const [pipeline] = facts.pipelines;
  if (pipeline === undefined || !facts.pipelines.every((one) => one.hasEnd)) return null;
  const failed = facts.pipelines.find((one) => one.outcome !== "" && one.outcome !== "ok") ?? null;
  const withErrors = facts.pipelines.find((one) => one.nodeErrors > 0) ?? null;
  const bad = failed ?? (pipeline.outcome === "" ? withErrors : null);
  if (bad === null) return { status: "completed", raw: pipeline.outcome, ...noError };
  return {
    status: "failed",
    raw: bad.outcome || "error",
    errorType: "",
    errorMessage: (bad.nodeError || withErrors?.nodeError) ?? "",
  };
}

/** A session span comes only when the process shut down in order. */
function judgeCirron(facts: RunFacts): Conclusion | null {
  const sessions = facts.groups.filter((group) => hasTrait(group.protocol, "sessions"));
  if (sessions.length === 0 || !sessions.every((group) => group.rootKind === "session")) return null;
  return { status: "completed", raw: "", ...noError };
}

function judgeSilence(silence: Silence, context: HeadContext): Conclusion {
  const { lastArrivalNs, mayHaveEnded, raw } = silence;
  const isRecent = lastArrivalNs !== null && context.nowNs - lastArrivalNs < context.silenceNs;
  if (isRecent || silence.groupKeys.some((groupKey) => context.isConnected(groupKey)))
    return { status: "running", raw, ...noError };
  const isUnknown = mayHaveEnded === "never_told" || (mayHaveEnded === "told_in_order" && lastArrivalNs === null);
  return { status: isUnknown ? "unknown" : "lost", raw, ...noError };
}

function earliestStart(facts: RunFacts): StartFact | undefined {
  return facts.starts.toSorted((a, b) => Number(a.tsNs - b.tsNs)).find((start) => start.name !== "") ?? facts.starts[0];
}

function latestStatus(statuses: readonly StatusFact[]): StatusFact | undefined {
  return statuses.toSorted((a, b) => Number(a.tsNs - b.tsNs)).at(-1);
}

function toProgress(statuses: readonly StatusFact[]): RunHead["progress"] {
  const last = latestStatus(statuses.filter((status) => status.progress !== ""));
  if (last === undefined) return null;
  const parsed = parseJson(last.progress);
  if (!parsed.ok || !isJsonObject(parsed.value)) return null;
  const progress = parsed.value;
  const current = Number(progress["cur"]);
  if (Number.isNaN(current)) return null;
  const total = progress["total"] == null ? null : Number(progress["total"]);
  const unit = typeof progress["unit"] === "string" ? progress["unit"] : "";
  return { current, total: Number.isNaN(total) ? null : total, unit, message: last.message };
}

/** Two clients of one training each tell of its processes: the workers of one are the ranks of the other. */
function workersOf(facts: RunFacts): string[] {
  const ranks = facts.groups.filter((group) => hasTrait(group.protocol, "sessions")).map((group) => String(group.rank));
  const [named, ranked] = [new Set(facts.starts.map((start) => start.worker)), new Set(ranks)];
  return [...(named.size >= ranked.size ? named : ranked)].sort();
}

function toTags(text: string): string[] {
  const parsed = parseJson(text);
  if (!parsed.ok) return [];
  const { value } = parsed;
  if (Array.isArray(value)) return value.map(toTagText);
  return isJsonObject(value) ? Object.entries(value).map(([key, tag]) => `${key}=${toTagText(tag)}`) : [];
}

/** Numbers as they were sent: a tag may be an id of 64 bits. */
function toTagText(value: JsonValue): string {
  return typeof value === "string" ? value : formatJson(value, "lossless");
}

function present<K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> {
  return value === undefined || value === "" ? {} : ({ [key]: value } as Record<K, string>);
}

function lastTime(facts: RunFacts): bigint | null {
  return largest(facts.groups.flatMap((group) => (group.lastNs === null ? [] : [group.lastNs])));
}

function smallest(times: readonly bigint[]): bigint | null {
  return times.reduce<bigint | null>((best, time) => (best === null || time < best ? time : best), null);
}

function largest(times: readonly bigint[]): bigint | null {
  return times.reduce<bigint | null>((best, time) => (best === null || time > best ? time : best), null);
}
