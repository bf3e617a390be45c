// How a run is going, in one sentence: its state, how far it is, when it will be done, and what a reader should mind.

import type { Run } from "#api/contract/run.ts";
import { formatCount, toNumber } from "../../text/format-number.ts";
import { formatDuration, formatTime, toMs, toOffsetNs } from "../../text/format-time.ts";

interface RunSentence {
  readonly text: string;
  /** What to bear in mind about the run's own times. */
  readonly cautions: readonly string[];
}

type Judged = Pick<
  Run,
  "status" | "status_raw" | "start_ns" | "end_ns" | "updated_ns" | "duration_ns" | "progress" | "error" | "error_detail"
>;

export function toSentence(run: Judged, nowMs: number): RunSentence {
  return { text: sentence(run, nowMs), cautions: cautionsOf(run) };
}

function sentence(run: Judged, nowMs: number): string {
  const took = run.duration_ns === null ? "" : ` after ${formatDuration(Number(run.duration_ns))}`;
  switch (run.status) {
    case "running":
      return run.status_raw === "paused"
        ? `Paused${progressText(run)}.`
        : `Running${progressText(run)}${endText(run, nowMs)}.`;
    case "completed":
      return `Completed${took}${unfinishedText(run)}.`;
    case "failed":
      return `Failed${took}${errorText(run)}.`;
    case "killed":
      return `Stopped${took}${progressText(run)}.`;
    case "lost":
      return `Lost: nothing was heard since ${formatTime(toMs(run.updated_ns)).slice(0, -4)}, and no end was reported${progressText(run)}.`;
    case "unknown":
      return "How it ended is not known.";
  }
}

const errorCharsMax = 160;

/** Nothing where a panel below has all of it. */
function errorText({ error, error_detail }: Judged): string {
  if (error_detail !== null) return "";
  const text = error.trim().replace(/\.$/, "");
  if (text === "") return "";
  return `: ${text.length > errorCharsMax ? `${text.slice(0, errorCharsMax)}…` : text}`;
}

function progressText({ progress }: Judged): string {
  const share = shareOf(progress);
  if (progress === null) return "";
  const { unit } = progress;
  if (share === null) return `, at ${unit} ${progress.current}`.replace("  ", " ");
  // Rounded as the head of the run does it: only what is done is 100 %.
  return `, ${Math.floor(share * 100)} % of ${formatCount(toNumber(progress.total) ?? 0)} ${unit}`.trimEnd();
}

/** A run that says it is done but told less progress than it had planned stopped early. */
function unfinishedText(run: Judged): string {
  const share = shareOf(run.progress);
  return share !== null && share < 0.995 ? ` at ${Math.round(share * 100)} % of what was planned` : "";
}

/** When it will be done if it goes on as it did. */
function endText(run: Judged, nowMs: number): string {
  const share = shareOf(run.progress);
  if (share === null || share < 0.005 || share >= 1 || run.start_ns === null) return "";
  const heardMs = Math.min(nowMs, toMs(run.updated_ns));
  const elapsedMs = heardMs - toMs(run.start_ns);
  const leftMs = elapsedMs / share - (nowMs - toMs(run.start_ns));
  if (!(leftMs > 0)) return "";
  return `, done in about ${formatDuration(leftMs * 1e6)} (${formatTime(nowMs + leftMs).slice(11, 16)})`;
}

/** How far a run is, where it says of how much. */
export function shareOf(progress: Judged["progress"]): number | null {
  const current = progress === null ? null : toNumber(progress.current);
  const total = progress === null ? null : toNumber(progress.total);
  return current === null || total === null || !(total > 0) ? null : current / total;
}

/** What the findings and the run's head do not say. */
function cautionsOf({ start_ns, end_ns }: Judged): string[] {
  return start_ns !== null && end_ns !== null && toOffsetNs(end_ns, start_ns) < 0 ? ["it ends before it starts"] : [];
}

/**
 * How long a worker took, three ways that may differ: by its own clock, between arrivals here, and as it reported.
 * Records of one file arrive at once: that says nothing and is left out. Where they agree, once is enough.
 */
export function durationParts(duration: Run["durations"][number]): string {
  const { clock_ns, arrival_ns, said_ms } = duration;
  const parts: [time: string, by: string][] = [];
  if (clock_ns !== null) parts.push([formatDuration(Number(clock_ns)), "by its clock"]);
  if (arrival_ns !== null && arrival_ns !== "0") parts.push([formatDuration(Number(arrival_ns)), "between arrivals"]);
  if (said_ms !== null) parts.push([formatDuration(Number(said_ms) * 1e6), "as reported"]);
  const [first, ...others] = parts;
  if (first !== undefined && others.every(([time]) => time === first[0])) return first[0];
  return parts.map(([time, by]) => `${time} ${by}`).join(", ");
}
