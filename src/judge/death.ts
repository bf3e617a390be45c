// Why a run died, from everything it left: how it ended, what it said last, what was open. Pure. It names its evidence,
// and says so when there is none.

import { alignCollectives, type CollectiveFinding, type RankRecord } from "./collectives.ts";

export const deathCauses = [
  "out_of_memory",
  "hung_collective",
  "exception",
  "crashed",
  "killed",
  "exit_code",
  "lost",
  "alive",
  "completed",
  "unknown",
] as const;
export type DeathCause = (typeof deathCauses)[number];

export interface DeathEvidence {
  readonly status: string;
  readonly exit: { readonly code: number | null; readonly signal: string } | null;
  readonly error: { readonly type: string; readonly message: string; readonly traceback: string } | null;
  /** The last lines of output and log, the oldest first. */
  readonly lines: readonly DeathLine[];
  /** What torchelastic wrote about its workers. */
  readonly reports: readonly WorkerReport[];
  readonly records: readonly RankRecord[];
}

export interface DeathLine {
  readonly tsNs: bigint;
  readonly worker: string;
  readonly level: string;
  readonly stream: string;
  readonly text: string;
}

export interface WorkerReport {
  readonly rank: number | null;
  readonly message: string;
  readonly traceback: string;
  readonly tsNs: bigint | null;
}

export interface Death {
  readonly cause: DeathCause;
  /** One sentence. */
  readonly text: string;
  readonly evidence: string[];
  readonly traceback: string;
  /** Lines that report trouble, else the last ones. */
  readonly lines: readonly DeathLine[];
  readonly collective: CollectiveFinding | null;
}

const gpuMemory = /(CUDA|HIP|XPU|MPS)[^\n]*out of memory|OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED/i;
const hostMemory = /Out of memory: Kill|oom-kill|oom_reaper|\bMemoryError\b|Cannot allocate memory|std::bad_alloc/i;
const trouble = /(error|exception)\b|\b(traceback|fatal|panic|aborted|killed|segfault|segmentation fault)\b/i;
const linesMax = 30;
/** The longest traceback, including lines of other streams in between. */
const linesSearched = 200;

export function judgeDeath(evidence: DeathEvidence): Death {
  const collective = alignCollectives(evidence.records);
  const first = firstReport(evidence.reports);
  const root = findRootCause(evidence.lines);
  const traceback = evidence.error?.traceback || first?.traceback || findTraceback(linesOf(evidence.lines, root));
  const found = causeOf(evidence, collective, { report: first, root }, traceback);
  return { ...found, traceback, lines: tellingLines(evidence.lines), collective };
}

type Cause = Pick<Death, "cause" | "text" | "evidence">;

function causeOf(
  evidence: DeathEvidence,
  collective: CollectiveFinding | null,
  { report, root }: { readonly report: WorkerReport | null; readonly root: RootCause | null },
  traceback: string,
): Cause {
  const { status, exit, error } = evidence;
  const how = sayExit(exit);
  if (status === "running") return { cause: "alive", text: "The run goes on.", evidence: [] };
  // A run that ended well survived whatever it printed about memory.
  const memory = status === "completed" && endedWell(exit) ? null : judgeMemory(evidence, traceback, how);
  if (status === "completed" && memory === null)
    return { cause: "completed", text: "The run completed; nothing killed it.", evidence: how };
  if (memory !== null) return memory;
  if (collective !== null)
    return { cause: "hung_collective", text: collective.text, evidence: [...how, ...collective.evidence] };
  if (report !== null) {
    const who = report.rank === null ? "A worker" : `Rank ${report.rank}`;
    return { cause: "exception", text: `${who} failed first: ${firstLine(report.message)}`, evidence: how };
  }
  if (root !== null) return judgeRank(root, traceback, how);
  const said = error === null ? "" : [error.type, firstLine(error.message)].filter((part) => part !== "").join(": ");
  const raised = lastLine(traceback);
  if (error !== null && (error.type !== "" || error.traceback !== ""))
    return { cause: "exception", text: `It raised ${said}`, evidence: how };
  if (raised !== "") return { cause: "exception", text: `It raised ${raised}`, evidence: how };
  return judgeExit(evidence, said, how);
}

function judgeRank({ rank, code, signal }: RootCause, traceback: string, how: string[]): Cause {
  const evidence = [...how, "its launcher names it as the first that failed"];
  if (signal === "") {
    const why = lastLine(traceback);
    const text = `Rank ${rank} failed first, with exit code ${code}${why === "" ? "." : `: ${why}`}`;
    return { cause: "exception", text, evidence };
  }
  if (crashes.has(signal))
    return { cause: "crashed", text: `Rank ${rank} crashed first, with ${signal}, in native code.`, evidence };
  const hint = signal === "SIGKILL" ? ", which is what the kernel does to a program that takes too much memory" : "";
  return { cause: "killed", text: `Rank ${rank} was killed first, with ${signal}${hint}.`, evidence };
}

function judgeMemory({ lines, error, exit }: DeathEvidence, traceback: string, how: string[]): Cause | null {
  const texts = [
    error?.message ?? "",
    error?.type ?? "",
    lastLine(traceback),
    ...lines.map(({ text }) => text).reverse(),
  ];
  for (const [what, test] of [
    ["the GPU's memory", gpuMemory],
    ["the machine's memory", hostMemory],
  ] as const) {
    const line = texts.find((text) => test.test(text));
    if (line === undefined) continue;
    const text = `It ran out of ${what}.`;
    return { cause: "out_of_memory", text, evidence: [firstLine(line), ...how] };
  }
  if (exit === null || (exit.signal !== "SIGKILL" && exit.code !== 137)) return null;
  const text = "It was killed with SIGKILL, which is what the kernel does to a program that takes too much memory.";
  return { cause: "killed", text, evidence: [...how, "nothing it printed says why; look into the kernel's log"] };
}

const crashes: ReadonlySet<string> = new Set(["SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL"]);

function judgeExit({ status, exit, lines }: DeathEvidence, said: string, how: string[]): Cause {
  const last = lines.at(-1);
  const lastWords = last === undefined ? [] : [`its last line was: ${last.text.slice(0, 300)}`];
  if (exit !== null && exit.signal !== "") {
    const isCrash = crashes.has(exit.signal);
    const text = isCrash
      ? `It crashed with ${exit.signal}, in native code.`
      : `It was ended from outside with ${exit.signal}.`;
    return { cause: isCrash ? "crashed" : "killed", text, evidence: [...how, ...lastWords] };
  }
  if (exit !== null && exit.code !== 0) {
    const text =
      said === ""
        ? `It exited with code ${exit.code} and gave no reason.`
        : `It exited with code ${exit.code}: ${said}`;
    return { cause: "exit_code", text, evidence: lastWords };
  }
  if (status === "failed")
    return { cause: "exception", text: said === "" ? "It said that it failed." : `It failed: ${said}`, evidence: how };
  if (status === "killed") return { cause: "killed", text: "It was stopped.", evidence: how };
  if (status === "lost")
    return { cause: "lost", text: "It fell silent, without an end or a reason.", evidence: lastWords };
  return { cause: "unknown", text: "How it ended is not known.", evidence: lastWords };
}

/** Also when only the run itself said how it ended. */
function endedWell(exit: DeathEvidence["exit"]): boolean {
  return exit === null || (exit.code === 0 && exit.signal === "");
}

function sayExit(exit: DeathEvidence["exit"]): string[] {
  if (exit === null) return [];
  return [exit.signal === "" ? `exit code ${exit.code}` : `ended by ${exit.signal}`];
}

/** The one that failed first took the others down. */
function firstReport(reports: readonly WorkerReport[]): WorkerReport | null {
  const byTime = (a: WorkerReport, b: WorkerReport) => Number((a.tsNs ?? 2n ** 62n) - (b.tsNs ?? 2n ** 62n));
  return reports.toSorted(byTime)[0] ?? null;
}

interface RootCause {
  readonly rank: number;
  readonly code: number;
  /** '' when it ended by itself. */
  readonly signal: string;
}

/** What torchrun prints last about the worker that took the others down. */
function findRootCause(lines: readonly DeathLine[]): RootCause | null {
  const texts = lines.map(({ text }) => text);
  const from = texts.findLastIndex((text) => text.includes("Root Cause (first observed failure)"));
  const told = from < 0 ? "" : texts.slice(from + 1, from + 10).join("\n");
  const rank = /^\s*rank\s*: (\d+)/m.exec(told)?.[1];
  const exit = /^\s*exitcode\s*: (-?\d+) \(pid: \d+\)(?:\s*\((SIG\w+)\))?/m.exec(told);
  if (rank === undefined || exit === null) return null;
  return { rank: Number(rank), code: Number(exit[1]), signal: exit[2] ?? "" };
}

/** If the first rank to fail is known, only its output counts: the other ranks and the launcher report what followed. */
function linesOf(lines: readonly DeathLine[], root: RootCause | null): readonly DeathLine[] {
  return root === null ? lines : lines.filter(({ text }) => text.startsWith(`[rank${root.rank}]`));
}

/** The last Python traceback that was printed, to its exception. */
export function findTraceback(lines: readonly DeathLine[]): string {
  const from = lines.findLastIndex(({ text }) => text.includes("Traceback (most recent call last):"));
  const first = lines[from];
  if (first === undefined) return "";
  const { text: start, worker, stream } = first;
  // What a launcher puts in front of every line of a rank, such as `[rank1]: `.
  const prefix = start.slice(0, start.indexOf("Traceback"));
  const kept = [start.slice(prefix.length)];
  for (const { text, ...line } of lines.slice(from + 1, from + linesSearched)) {
    // What the program printed in between, to its other stream or elsewhere.
    if (line.worker !== worker || line.stream !== stream || !text.startsWith(prefix)) continue;
    const said = text.slice(prefix.length);
    kept.push(said);
    if (said !== "" && !/^\s/.test(said)) break;
  }
  return kept.join("\n");
}

function tellingLines(lines: readonly DeathLine[]): readonly DeathLine[] {
  const telling = lines.filter(({ level, text }) => level === "error" || level === "critical" || trouble.test(text));
  return (telling.length > 0 ? telling : lines).slice(-linesMax);
}

function firstLine(text: string): string {
  return (text.split("\n").find((line) => line.trim() !== "") ?? "").trim().slice(0, 500);
}

function lastLine(text: string): string {
  return (text.split("\n").findLast((line) => line.trim() !== "") ?? "").trim().slice(0, 500);
}
