// XTrack events for Node programs: parameters, metrics, checkpoints, files, logs, and commands back.
// Nothing here throws into the program, keeps it alive before `end()`, or grows without bound.

import { nowUs } from "#base/clock.ts";
import { encodePayload } from "#wire/xtrack/encode.ts";
import { formatObject } from "./json-text.ts";
import { watchProcessEnd } from "./process-end.ts";
import { readOptions, toNumberOption, toSignals, toTextOption } from "./read-options.ts";
import { say } from "./say.ts";
import { Link } from "./xtrack/link.ts";
import { openTransport } from "./xtrack/open-transport.ts";
import { readEnv, readSource } from "./xtrack/origin.ts";
import { type DropPolicy, Outbox } from "./xtrack/outbox.ts";
import { Remains } from "./xtrack/remains.ts";
import type {
  Aggregate,
  ArtifactOptions,
  ArtifactType,
  CheckpointOptions,
  EndOptions,
  EndStatus,
  LogLevel,
  LogOptions,
  MetricOptions,
  Phase,
  RunHealth,
  Status,
  StatusOptions,
  Values,
} from "./xtrack/run.ts";
import { Run } from "./xtrack/run.ts";
import {
  chooseSpool,
  chooseTransport,
  type Env,
  type TransportKind,
  type TransportOptions,
} from "./xtrack/settings.ts";
import type { Command, CommandHandler, CommandType } from "./xtrack/steering.ts";

export type {
  Aggregate,
  ArtifactOptions,
  ArtifactType,
  CheckpointOptions,
  Command,
  CommandHandler,
  CommandType,
  DropPolicy,
  EndOptions,
  EndStatus,
  LogLevel,
  LogOptions,
  MetricOptions,
  Phase,
  Run,
  RunHealth,
  Status,
  StatusOptions,
  TransportKind,
  TransportOptions,
  Values,
};

export interface RunOptions {
  /** Default: a random UUID. An id that was used before resumes that run. */
  readonly id?: string;
  /** Environment: XTRACK_EXPERIMENT. */
  readonly experiment?: string;
  readonly parentId?: string;
  readonly name?: string;
  readonly tags?: Values;
  /** Hyper-parameters, sent right after the start. */
  readonly params?: Values;
  /** Environment: XTRACK_WORKER_ID. One of several workers of the run. */
  readonly workerId?: string;
  /** Environment: XTRACK_TRANSPORT and the variables of each kind. */
  readonly transport?: TransportOptions | TransportKind;
  /** Environment: XTRACK_API_KEY. */
  readonly apiKey?: string;
  /** `false` leaves out git, host and entrypoint; an object is sent in their place. */
  readonly source?: false | Values;
  readonly env?: false | Values;
  /** How many bytes of events may wait for the collector. Default 8 MB. */
  readonly bufferBytesMax?: number;
  /** What is dropped when the buffer is full: the oldest metrics and logs (default), or the new ones. */
  readonly drop?: DropPolicy;
  /** Environment: XTRACK_SPOOL. Folder for events that did not arrive, `false` for none. Default `.xtrack`. */
  readonly spool?: string | false;
  /** Signals that end the run as killed before they end the process. Default `["SIGTERM"]`. */
  readonly signals?: readonly NodeJS.Signals[];
}

const bufferBytesMaxDefault = 8 * 1024 * 1024;
const problemsMax = 20;

/** Starts a run. The collector need not be there yet: events wait, and go out when it is. */
export function startRun(given?: RunOptions): Run {
  const env: Env = process.env;
  const options = readOptions(given);
  const id = toTextOption(options.id) ?? crypto.randomUUID();
  const wid = toTextOption(options.workerId) ?? env["XTRACK_WORKER_ID"] ?? "";
  const apiKey = toTextOption(options.apiKey) ?? env["XTRACK_API_KEY"] ?? "";
  const greeting = apiKey === "" ? null : encodeAuth(apiKey);
  const problems = new Set<string>();
  const onProblem = (sentence: string) => {
    if (problems.size < problemsMax) problems.add(sentence);
    say(sentence);
  };
  const choice = chooseTransport(options.transport, env, onProblem);
  const folder = chooseSpool(options.spool, env);
  const outbox = new Outbox(toNumberOption(options.bufferBytesMax) ?? bufferBytesMaxDefault, options.drop ?? "oldest");
  let stopWatching: () => void = () => undefined;
  const link = new Link({
    open: (events) => openTransport(choice, apiKey, events),
    outbox,
    greeting,
    onMessage: (type, meta, payload) => run.hear(type, meta, payload),
    onProblem,
  });
  const remains = new Remains({ choice, apiKey, greeting, runId: id, wid, folder, link, outbox });
  const run = new Run(
    { id, wid, link, outbox, remains, problems, onProblem, onEnd: () => stopWatching() },
    formatStart(id, options, env, link.accepts),
  );
  run.status("running");
  if (options.params !== undefined) run.params(options.params);
  stopWatching = watchProcessEnd({
    signals: toSignals(options.signals),
    onLoopEnd: (code) => {
      // A collector that is away is not waited for.
      if (!link.isAway) void run.end(toEnd(code));
    },
    onExit: (code) => run.exitNow(toEnd(code)),
    onError: (error) => run.endNow({ error }),
    onSignal: (signal) => run.endSoon({ status: "killed", error: { type: "Signal", message: signal } }),
  });
  return run;
}

function toEnd(code: number): EndOptions {
  return code === 0 ? {} : { error: { type: "ExitCode", message: `the process ended with code ${code}` } };
}

/** Runs `work` as a run: completed when it returns, failed when it throws; the error goes on to the caller. */
export async function withRun<T>(options: RunOptions, work: (run: Run) => T | Promise<T>): Promise<T> {
  const run = startRun(options);
  try {
    const result = await work(run);
    await run.end();
    return result;
  } catch (error) {
    await run.fail(error);
    throw error;
  }
}

function formatStart(id: string, options: RunOptions, env: Env, accepts: readonly string[]): string {
  const { name, tags, experiment, parentId, source, env: runEnv } = options;
  return formatObject({
    run_id: { id, exp_id: experiment ?? env["XTRACK_EXPERIMENT"], parent_id: parentId },
    name,
    tags,
    source: source === false ? undefined : (source ?? readSource()),
    env: runEnv === false ? undefined : (runEnv ?? readEnv()),
    accepts: accepts.length === 0 ? undefined : accepts,
  }).slice(1, -1);
}

function encodeAuth(key: string): Uint8Array {
  return encodePayload(Buffer.from(JSON.stringify({ v: 1, t: "auth", m: { seq: 0, ts: nowUs() }, p: { key } })));
}
