// Validates trace files without a server: what the collector would keep as faults, with file, line and column.

import { createReadStream } from "node:fs";
import { detectBytes, detectFile, emptyFile, unknownFile } from "#protocol/detect.ts";
import { protocolLabels } from "#protocol/facts.ts";
import type { CheckedFile, CheckOptions, FileKind } from "#protocol/file-kind.ts";
import { type Finding, type Problem, Tally } from "#protocol/finding.ts";
import { findSources } from "#protocol/sources.ts";

export interface CheckRun extends Omit<CheckOptions, "said"> {
  /** Problems beyond this many in one file are counted, not given. */
  readonly problemsPerFileMax?: number;
  /** What `-` means. */
  readonly stdin?: AsyncIterable<Uint8Array>;
}

const readBytes = 1024 * 1024;
const problemsPerFileMaxDefault = 1000;

/** Problems as they are found, and a summary as the last finding. */
export async function* checkPaths(paths: readonly string[], run: CheckRun): AsyncGenerator<Finding> {
  const tally = new Tally(run.problemsPerFileMax ?? problemsPerFileMaxDefault);
  const options = { ...run, said: new Set<string>() };
  for await (const problem of checkAll(paths, options, tally)) if (tally.admit(problem)) yield problem;
  yield tally.toSummary();
}

async function* checkAll(
  paths: readonly string[],
  options: CheckOptions & CheckRun,
  tally: Tally,
): AsyncGenerator<Problem> {
  for (const path of paths) {
    if (path === "-" && options.stdin !== undefined) {
      yield* checkStream(options.stdin, options, tally);
      continue;
    }
    let found = 0;
    for await (const source of findSources([path])) {
      found++;
      if (source.kind === null) yield complain(source.path, "unreadable", `cannot be read (${source.reason})`);
      else {
        const chunks = () => createReadStream(source.path, { highWaterMark: readBytes });
        yield* checkFile({ path: source.path, chunks }, source.kind, source.sizeBytes, options, tally);
      }
    }
    if (found === 0) yield complain(path, "no_traces", "no trace files in this folder");
  }
}

/** Standard input is recognised by its first bytes, like a file; by default it is trace lines. */
async function* checkStream(
  stream: AsyncIterable<Uint8Array>,
  options: CheckOptions,
  tally: Tally,
): AsyncGenerator<Problem> {
  const iterator = stream[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < detectBytes) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    head.push(value);
    bytes += value.length;
  }
  const chunks = async function* () {
    yield* head;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  };
  const kind = detectFile("standard-input.jsonl", Buffer.concat(head).subarray(0, detectBytes));
  yield* checkFile({ path: "<stdin>", chunks }, kind, 0, options, tally);
}

async function* checkFile(
  file: CheckedFile,
  kind: FileKind,
  sizeBytes: number,
  options: CheckOptions,
  tally: Tally,
): AsyncGenerator<Problem> {
  if (kind.check === null && kind !== emptyFile && kind !== unknownFile) return;
  tally.startFile(sizeBytes);
  if (kind === emptyFile) yield complain(file.path, "empty", "the file is empty", "warning");
  else if (kind === unknownFile) yield complain(file.path, "not_a_trace", `is no file of ${protocolLabels.join(", ")}`);
  else if (kind.check !== null) yield* kind.check(file, options, tally);
}

function complain(file: string, code: string, message: string, severity: Problem["severity"] = "error"): Problem {
  return { kind: "problem", severity, protocol: "", file, code, message };
}
