// Semantiva trace streams from Node programs: pipelines, nodes and run-space launches as JSON lines.
// Nothing here throws into the program or keeps it alive.

import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { encodeRecord, type TraceRecord } from "#wire/semantiva/encode.ts";
import { type RunSpaceInput, toInputsId, toLaunchId, toPlanId } from "#wire/semantiva/identities.ts";
import { PythonFloat, type PythonValue } from "#wire/semantiva/python-json.ts";
import { watchProcessEnd } from "./process-end.ts";
import { attempt, copyOf, readOptions, toTextOption } from "./read-options.ts";
import { say } from "./say.ts";
import { type Detail, parseDetail } from "./semantiva/detail.ts";
import { LineFile } from "./semantiva/line-file.ts";
import {
  type Check,
  formatTime,
  type KnownPlan,
  type NodeEvent,
  type NodeStatus,
  type ParameterSource,
  type PipelinePlan,
  type PlannedNode,
  toErrorFields,
  toKnownPlan,
  toNodeRecord,
  type Values,
} from "./semantiva/records.ts";
import { toTraceObject } from "./semantiva/value.ts";
import { settle } from "./settle.ts";

export type { Check, NodeEvent, NodeStatus, ParameterSource, PipelinePlan, PlannedNode, RunSpaceInput, Values };

export interface TraceOptions {
  /** A path with a suffix is one file, appended to; a folder, or a path without suffix, gets one file per run and launch. */
  readonly path: string;
  /** `hash`, `repr`, `context`, `all`, comma-separated. Default `hash`. */
  readonly detail?: string;
  /** `record`: every record is on disk when the call returns. `run` (default): at the end of a run, every 64 KB, and at exit. */
  readonly flush?: "record" | "run";
}

export interface LaunchOptions {
  /** The plan, as it stands in the configuration. Use `float(1)` for numbers that Python has as floats. */
  readonly spec: Values;
  readonly combineMode: "combinatorial" | "by_position";
  readonly totalRuns: number;
  readonly maxRunsLimit?: number;
  readonly plannedRunCount?: number;
  readonly inputs?: readonly RunSpaceInput[];
  /** The same key over the same plan and inputs gives the same launch id. */
  readonly idempotencyKey?: string;
  readonly launchId?: string;
  /** Counts retries of a launch from 1. */
  readonly attempt?: number;
}

export interface Launch {
  readonly id: string;
  readonly attempt: number;
  readonly specId: string;
  readonly inputsId: string | undefined;
  readonly plannedRuns: number;
}

export interface PipelineOptions {
  readonly plan: PipelinePlan;
  /** Default: `run-` and 32 hex digits. */
  readonly runId?: string;
  /** Default: computed from the plan. */
  readonly pipelineId?: string;
  readonly launch?: Launch;
  /** 0-based place of this run within its launch. */
  readonly index?: number;
  /** This run's parameter values. */
  readonly context?: Values;
  readonly meta?: Values;
}

export interface PipelineRun {
  readonly id: string;
  readonly pipelineId: string;
  /** Ids of the planned nodes, in order. */
  readonly nodeIds: readonly string[];
}

export interface NodeOptions {
  readonly input?: unknown;
  readonly parameters?: Values;
  readonly parameterSources?: Readonly<Record<string, ParameterSource>>;
  /** The pipeline's context; the node may change it, and the change is recorded. */
  readonly context?: Record<string, unknown>;
  readonly reads?: readonly string[];
  readonly tags?: Values;
}

interface OpenLaunch {
  readonly file: LineFile;
}

interface OpenRun extends OpenLaunch {
  readonly plan: KnownPlan;
  readonly processors: readonly string[];
  readonly pipelineId: string;
}

/** How many runs, and how many launches, are open: those that never end must not hold files forever. */
const openMax = 10_000;
const pathDefault = "trace.jsonl";
// The document counts sequence numbers per emitting process, so all writers in this process share them.
let lastSeq = 0;

/** A number that Python would have as a float: `float(1)` is written `1.0`, and counts as such in identities. */
export function float(value: number): PythonFloat {
  return new PythonFloat(value);
}

/** Reads a file once for its digest; what goes into the inputs of a launch. */
export async function fingerprint(role: string, path: string): Promise<RunSpaceInput> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  const uri = pathToFileURL(resolve(path)).href;
  return { role, uri, sha256: hash.digest("hex"), sizeBytes: statSync(path).size };
}

export function createTraceWriter(options: TraceOptions): TraceWriter {
  return new TraceWriter(options);
}

export class TraceWriter {
  private readonly path: string;
  private readonly isFolder: boolean;
  private readonly detail: Detail;
  private readonly flushesEach: boolean;
  private readonly runs = new Map<string, OpenRun>();
  private readonly launches = new Map<string, OpenLaunch>();
  private readonly shared: LineFile;
  private readonly stopWatching: () => void;
  private lostInClosed = 0;

  constructor(options: TraceOptions) {
    const { path, detail, flush } = readOptions(options);
    const named = toTextOption(path);
    if (named === undefined) say(`createTraceWriter() was given no path; records go to ${pathDefault}`);
    this.path = resolve(named ?? pathDefault);
    this.isFolder = extname(named ?? pathDefault) === "" || isDirectory(this.path);
    this.detail = parseDetail(toTextOption(detail) ?? "");
    this.flushesEach = flush === "record";
    this.shared = new LineFile(this.path);
    this.stopWatching = watchProcessEnd({
      signals: ["SIGTERM"],
      onExit: () => this.flush(),
      onSignal: () => this.flush(),
    });
  }

  /** Records that the disk would not take. */
  get lost(): number {
    return this.allFiles().reduce((sum, file) => sum + file.lost, this.lostInClosed);
  }

  runSpaceStart(options: LaunchOptions): Launch {
    let launch: Launch = { id: toHexId(), attempt: 1, specId: "", inputsId: undefined, plannedRuns: 0 };
    this.try("runSpaceStart", () => {
      launch = this.startLaunch(options);
    });
    return launch;
  }

  private startLaunch(options: LaunchOptions): Launch {
    const { combineMode, totalRuns, maxRunsLimit, plannedRunCount, inputs = [], idempotencyKey, launchId } = options;
    const specId = toPlanId(toTraceObject(options.spec));
    const inputsId = toInputsId(specId, inputs);
    const id = toLaunchId({ planId: specId, inputsId, idempotencyKey, launchId });
    const attempt = options.attempt ?? 1;
    const launch: Launch = { id, attempt, specId, inputsId, plannedRuns: plannedRunCount ?? totalRuns };
    const file = this.fileOf(`runspace-${id}.trace.jsonl`);
    this.open(this.launches, keyOf(launch), { file });
    this.writeLifecycle(file, "run_space_start", id, {
      run_space_spec_id: specId,
      run_space_inputs_id: inputsId,
      run_space_launch_id: id,
      run_space_attempt: attempt,
      run_space_combine_mode: combineMode,
      run_space_total_runs: totalRuns,
      run_space_max_runs_limit: maxRunsLimit,
      run_space_planned_run_count: plannedRunCount,
      run_space_input_fingerprints: inputs.length === 0 ? undefined : inputs.map(toFingerprint),
    });
    return launch;
  }

  runSpaceEnd(launch: Launch, summary: Values = {}): void {
    this.try("runSpaceEnd", () => {
      const file = this.launches.get(keyOf(launch))?.file ?? this.fileOf(`runspace-${launch.id}.trace.jsonl`);
      this.writeLifecycle(file, "run_space_end", launch.id, {
        run_space_launch_id: launch.id,
        run_space_attempt: launch.attempt,
        summary: { planned_runs: launch.plannedRuns, ...toTraceObject(summary) },
      });
      this.launches.delete(keyOf(launch));
      this.release(file);
    });
  }

  pipelineStart(options: PipelineOptions): PipelineRun {
    let run: PipelineRun = { id: `run-${toHexId()}`, pipelineId: "", nodeIds: [] };
    this.try("pipelineStart", () => {
      run = this.startPipeline(options);
    });
    return run;
  }

  private startPipeline(options: PipelineOptions): PipelineRun {
    const { launch, index, context, meta } = options;
    const plan = toKnownPlan(options.plan);
    const id = toTextOption(options.runId) ?? `run-${toHexId()}`;
    const pipelineId = options.pipelineId ?? plan.pipelineId;
    const file = this.fileOf(`${id}.ser.jsonl`);
    const processors = options.plan.nodes.map((node) => node.processor);
    this.open(this.runs, id, { plan, processors, pipelineId, file });
    this.writeLifecycle(file, "pipeline_start", id, {
      pipeline_id: pipelineId,
      pipeline_spec_canonical: plan.spec,
      run_space_launch_id: launch?.id,
      run_space_attempt: launch?.attempt,
      run_space_index: index,
      run_space_context: context === undefined ? undefined : toTraceObject(context),
      meta: { num_nodes: plan.nodeIds.length, ...toTraceObject(meta ?? {}) },
    });
    return { id, pipelineId, nodeIds: plan.nodeIds };
  }

  /** Records one executed node. */
  nodeEvent(run: PipelineRun, event: NodeEvent): void {
    this.try("nodeEvent", () => this.recordNode(run, event));
  }

  private recordNode(run: PipelineRun, event: NodeEvent): void {
    const record = toNodeRecord(run.id, run.pipelineId, event, this.detail);
    const open = this.runs.get(run.id);
    if (open !== undefined) {
      this.write(open.file, record);
      return;
    }
    // A node that reports after the end of its run, or in a run that another writer started.
    const file = this.fileOf(`${run.id}.ser.jsonl`);
    this.write(file, record);
    this.release(file);
  }

  /** Runs the planned node `index` and records how it went: time, input, output, context, error. The error goes on. */
  node<T>(run: PipelineRun, index: number, options: NodeOptions, work: () => T): T {
    const given = copyOf(options);
    const { context } = given;
    const before = context === undefined ? undefined : copyOf(context);
    const startedAtMs = Date.now();
    const startedMs = performance.now();
    const cpu = process.cpuUsage();
    const finish = (outcome: { output?: unknown; error?: unknown }) => {
      const { user, system } = process.cpuUsage(cpu);
      const open = this.runs.get(run.id);
      this.recordNode(run, {
        nodeId: run.nodeIds[index] ?? String(index),
        processor: open?.processors[index] ?? "unknown",
        upstream: open?.plan.upstream[index] ?? [],
        status: "error" in outcome ? "error" : "succeeded",
        startedAtMs,
        finishedAtMs: Date.now(),
        wallMs: performance.now() - startedMs,
        cpuMs: (user + system) / 1000,
        ...given,
        ...outcome,
        ...(before === undefined ? {} : { contextBefore: before, contextAfter: copyOf(context) }),
      });
    };
    const succeed = (output: unknown) => {
      this.try("node", () => finish({ output }));
      return output;
    };
    return settle(work, succeed, (error) => this.try("node", () => finish({ error })));
  }

  /** `summary.status` is `ok`, or `error` when there was one. */
  pipelineEnd(run: PipelineRun, summary: Values & { readonly error?: unknown } = {}): void {
    this.try("pipelineEnd", () => {
      const { error, ...more } = copyOf(summary);
      const file = this.runs.get(run.id)?.file ?? this.fileOf(`${run.id}.ser.jsonl`);
      const outcome =
        error === undefined ? { status: "ok" } : { status: "error", error: toErrorFields(error)["message"] };
      this.writeLifecycle(file, "pipeline_end", run.id, {
        summary: { ...toTraceObject(outcome), ...toTraceObject(more) },
      });
      this.runs.delete(run.id);
      this.release(file);
    });
  }

  /** Everything so far is handed to the operating system. */
  flush(): void {
    for (const file of this.allFiles()) file.flush();
  }

  close(): void {
    for (const file of this.allFiles()) this.release(file);
    this.shared.close();
    this.runs.clear();
    this.launches.clear();
    this.stopWatching();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Arguments may throw when they are read; then the record is lost. */
  private try(call: string, work: () => void): void {
    const reason = attempt(work);
    if (reason === null) return;
    this.shared.lost++;
    say(`the record of ${call}() is lost: ${reason}`);
  }

  private writeLifecycle(
    file: LineFile,
    type: string,
    runId: string,
    fields: { readonly [key: string]: PythonValue | undefined },
  ): void {
    this.write(file, {
      record_type: type,
      schema_version: 1,
      run_id: runId,
      timestamp: formatTime(Date.now()),
      seq: ++lastSeq,
      ...fields,
    });
  }

  private write(file: LineFile, record: TraceRecord): void {
    try {
      file.append(encodeRecord(record));
      if (this.flushesEach) file.flush();
    } catch {
      file.lost++;
    }
  }

  private fileOf(name: string): LineFile {
    if (!this.isFolder) return this.shared;
    const stamp = new Date().toISOString().replaceAll(/[-:]/g, "").replace("T", "-").slice(0, 15);
    return new LineFile(join(this.path, `${stamp}_${name.replaceAll(/[/\\\0]/g, "_")}`));
  }

  private release(file: LineFile): void {
    file.flush();
    if (file === this.shared) return;
    file.close();
    this.lostInClosed += file.lost;
  }

  /** Adds an entry. One that was open under the same key is closed, and so is the oldest if there are too many. */
  private open<T extends OpenLaunch>(opened: Map<string, T>, key: string, entry: T): void {
    const before = opened.get(key);
    opened.delete(key);
    if (before !== undefined) this.release(before.file);
    opened.set(key, entry);
    if (opened.size <= openMax) return;
    const [oldest, { file }] = opened.entries().next().value as [string, T];
    opened.delete(oldest);
    this.release(file);
  }

  private allFiles(): LineFile[] {
    const open = [...this.runs.values(), ...this.launches.values()].map(({ file }) => file);
    return [...new Set([this.shared, ...open])];
  }
}

function toHexId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

function toFingerprint({ role, uri, sha256, sizeBytes }: RunSpaceInput) {
  return { role, uri, digest: { sha256 }, size_bytes: sizeBytes };
}

function keyOf(launch: Launch): string {
  return `${launch.id}/${launch.attempt}`;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
