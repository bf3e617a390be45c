// Validates trace files without a server: what the collector would keep as faults, with file, line and column.

import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import type { JsonLimits } from "#base/json/value.ts";
import { findSources, type Source, type UnreadablePath } from "#intake/sources.ts";
import type { Registry } from "#wire/semantiva/registry.ts";
import { checkBatch, checkSentinels } from "./check-batch.ts";
import { checkFrames } from "./check-frames.ts";
import { checkLines, type SaidOnce } from "./check-lines.ts";
import { type Finding, type Problem, Tally } from "./finding.ts";

export interface CheckOptions {
  /** Of `readRegistry`. */
  readonly registry: Registry;
  /** The documents to the letter. */
  readonly strict?: boolean;
  /** Problems beyond this many in one file are counted, not given. */
  readonly problemsPerFileMax?: number;
  readonly lineBytesMax?: number;
  readonly limits?: JsonLimits;
  /** What `-` means. */
  readonly stdin?: AsyncIterable<Uint8Array>;
}

const readBytes = 1024 * 1024;
const problemsPerFileMaxDefault = 1000;

/** Problems as they are found, and a summary as the last finding. */
export async function* checkPaths(paths: readonly string[], options: CheckOptions): AsyncGenerator<Finding> {
  const tally = new Tally(options.problemsPerFileMax ?? problemsPerFileMaxDefault);
  const said: SaidOnce = { headerless: false, nonFinite: false };
  for await (const problem of checkAll(paths, options, tally, said)) if (tally.admit(problem)) yield problem;
  yield tally.toSummary();
}

async function* checkAll(
  paths: readonly string[],
  options: CheckOptions,
  tally: Tally,
  said: SaidOnce,
): AsyncGenerator<Problem> {
  for (const path of paths) {
    if (path === "-" && options.stdin !== undefined) {
      tally.startFile(0);
      yield* checkLines("<stdin>", options.stdin, { strict: false, ...options }, tally, said);
      continue;
    }
    let found = 0;
    for await (const source of findSources([path])) {
      found++;
      yield* checkSource(source, options, tally, said);
    }
    if (found === 0) yield complain(path, "no_traces", "no trace files in this folder");
  }
}

async function* checkSource(
  source: Source | UnreadablePath,
  options: CheckOptions,
  tally: Tally,
  said: SaidOnce,
): AsyncGenerator<Problem> {
  const { path } = source;
  if (source.kind === "unreadable") {
    yield complain(path, "unreadable", `cannot be read (${source.reason})`);
    return;
  }
  if (source.kind === "cirron_blob" || source.kind === "temporary") return;
  tally.startFile(source.sizeBytes);
  const chunks = () => createReadStream(path, { highWaterMark: readBytes }) as AsyncIterable<Uint8Array>;
  switch (source.kind) {
    case "semantiva_lines":
      yield* checkLines(path, chunks(), { strict: false, ...options }, tally, said);
      break;
    case "xtrack_frames":
    case "xtrack_mixed":
      yield* checkFrames(path, chunks(), source.kind === "xtrack_mixed", tally);
      break;
    case "cirron_batch":
      yield* checkBatch(path, await readFile(path), tally);
      break;
    case "cirron_events":
      yield* checkSentinels(path, chunks(), tally);
      break;
    case "empty":
      yield complain(path, "empty", "the file is empty", "warning");
      break;
    case "unknown":
      yield complain(path, "not_a_trace", "is none of: Cirron batch, Semantiva trace stream, XTrack frames");
      break;
  }
}

function complain(file: string, code: string, message: string, severity: Problem["severity"] = "error"): Problem {
  return { kind: "problem", severity, protocol: "", file, code, message };
}
