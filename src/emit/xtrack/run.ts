// A run: its events in the words of the protocol, numbered and timed as they happen.

import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { nowUs } from "#base/clock.ts";
import { formatObject, formatValue, quote } from "#emit/json-text.ts";
import { attempt, copyOf, readOptions, readReason, toNumberOption } from "#emit/read-options.ts";
import { encodePayload } from "#wire/xtrack/encode.ts";
import type { words } from "#wire/xtrack/messages.ts";
import type { Fields, Link } from "./link.ts";
import type { Outbox, OutboxCounts } from "./outbox.ts";
import type { Remains } from "./remains.ts";
import { type CommandHandler, type CommandType, Steering } from "./steering.ts";

export type Phase = (typeof words.phase)[number];
export type Aggregate = (typeof words.agg)[number];
export type EndStatus = (typeof words.end)[number];
export type LogLevel = (typeof words.level)[number];
export type Status = (typeof words.status)[number];
export type ArtifactType = (typeof words.artifact)[number];

export type Values = Readonly<Record<string, unknown>>;

export interface MetricOptions {
  readonly step?: number | bigint;
  readonly epoch?: number | bigint;
  readonly phase?: Phase;
  readonly batchSize?: number;
  readonly datasetSize?: number;
  readonly agg?: Aggregate;
  /** Further fields of `ctx`. */
  readonly ctx?: Values;
}

export interface ArtifactOptions {
  readonly type?: ArtifactType;
  readonly name?: string;
  readonly meta?: Values;
  readonly upload?: (typeof words.upload)[number];
}

export interface CheckpointOptions {
  readonly step: number | bigint;
  readonly path: string;
  readonly epoch?: number | bigint;
  readonly metrics?: Values;
  readonly isBest?: boolean;
  readonly bestKey?: string;
  readonly meta?: Values;
}

export interface StatusOptions {
  readonly msg?: string;
  readonly progress?: { readonly cur: number; readonly total?: number; readonly unit?: string };
}

export interface LogOptions {
  readonly logger?: string;
  readonly step?: number | bigint;
  readonly fields?: Values;
}

export interface EndOptions {
  /** Default `completed`, or `failed` when there is an error. */
  readonly status?: EndStatus;
  readonly error?: unknown;
  readonly finalMetrics?: Values;
  /** How long to wait for the collector. */
  readonly timeoutMs?: number;
}

export interface RunHealth extends OutboxCounts {
  readonly isConnected: boolean;
  /** Events so far. */
  readonly events: number;
  /** Events after the end, which are ignored. */
  readonly late: number;
  /** Events that did not arrive and are kept in a file of the spool folder. */
  readonly spooled: number;
  /** Events that did not arrive and could not be kept. */
  readonly lost: number;
  /** What is wrong with the settings or the connection to the collector, in sentences. */
  readonly problems: readonly string[];
}

interface RunParts {
  readonly id: string;
  readonly wid: string;
  readonly link: Link;
  readonly outbox: Outbox;
  readonly remains: Remains;
  readonly problems: ReadonlySet<string>;
  /** Called for a problem that a person should fix. */
  readonly onProblem: (sentence: string) => void;
  readonly onEnd: () => void;
}

const endTimeoutMs = 5000;
/** After a signal the process ends within a second: how long it waits for checksums, and for the collector. */
const signalHashMs = 200;
const signalDrainMs = 800;
const answerWaitMs = 50;
const encoder = new TextEncoder();

export class Run {
  readonly id: string;
  private readonly parts: RunParts;
  private readonly idJson: string;
  private readonly widJson: string;
  private readonly steering = new Steering((fields) => this.sendAck(fields));
  private readonly startedMs = performance.now();
  private readonly unhashed = new Set<Promise<void>>();
  private seq = 0;
  private controlSeq = 0;
  private late = 0;
  private ending: Promise<void> | null = null;
  /** What `end` was given. */
  private endOptions: EndOptions | null = null;
  /** Resolved when the end of the run must not wait for checksums any longer. */
  private readonly hurry = Promise.withResolvers<void>();
  private isEnded = false;

  constructor(parts: RunParts, startJson: string) {
    this.parts = parts;
    this.id = parts.id;
    this.idJson = JSON.stringify(parts.id);
    this.widJson = parts.wid === "" ? "" : `,"wid":${JSON.stringify(parts.wid)}`;
    parts.link.runStart = this.emit("run_start", startJson, false);
  }

  get health(): RunHealth {
    const { outbox, link, remains, problems } = this.parts;
    const { spooled, lost } = remains;
    const own = { isConnected: link.isConnected, events: this.seq, late: this.late };
    return { ...outbox.counts, ...own, spooled, lost, problems: [...problems] };
  }

  /** One event per leaf: `{optimizer: {lr: 1}}` is key `optimizer` with nested_key `["lr"]`. */
  params(values: Values): void {
    for (const [key, value] of Object.entries(copyOf(values))) this.param(key, value);
  }

  param(key: string, value: unknown): void {
    this.try("param", () => this.paramAt(key, [], value));
  }

  metric(key: string, value: number | bigint | boolean, options?: MetricOptions): void {
    const fields = `"run_id":${this.idJson},"key":${quote(key)},"value":${formatValue(value)}`;
    this.emit("metric", fields + this.placeOf(options), true);
  }

  /** All values share step and epoch and arrive together or not at all. */
  metricBatch(metrics: Readonly<Record<string, number | bigint | boolean>>, options?: MetricOptions): void {
    const fields = `"run_id":${this.idJson},"metrics":${formatObject(metrics ?? {})}`;
    this.emit("metric_batch", fields + this.placeOf(options), true);
  }

  /** Sent when the file has been read once for its checksum. Never rejects; `end()` waits for it. */
  artifact(path: string, options?: ArtifactOptions): Promise<void> {
    let work = Promise.resolve();
    this.try("artifact", () => {
      work = this.sendArtifact(resolve(path), readOptions(options)).catch(() => undefined);
    });
    this.unhashed.add(work);
    return work.finally(() => this.unhashed.delete(work));
  }

  checkpoint(options: CheckpointOptions): void {
    const { step, path, epoch, metrics, isBest, bestKey, meta } = readOptions(options);
    this.try("checkpoint", () => {
      const place = { step, path: resolve(path as string), epoch };
      this.event("checkpoint", { ...place, metrics, is_best: isBest, best_key: bestKey, meta });
    });
  }

  status(status: Status, options?: StatusOptions): void {
    const { msg, progress } = readOptions(options);
    this.event("status", { status, msg, progress }, true);
  }

  log(level: LogLevel, msg: string, options?: LogOptions): void {
    const { logger, step, fields } = readOptions(options);
    this.event("log", { level, msg, logger, step, fields }, true);
  }

  /** Obeys commands of one type. Needs a transport that hears: tcp, unix, ws, or stdio with XTRACK_COMMANDS=stdin. */
  on(type: CommandType, handler: CommandHandler): this {
    this.steering.on(type, handler);
    this.parts.link.listen();
    return this;
  }

  /** Lets commands and acks come in: call it from time to time in a loop that does not await anything else. */
  yield(): Promise<void> {
    return new Promise((done) => setImmediate(done));
  }

  /** Ends the run and waits until everything has arrived, at most `timeoutMs`. Never rejects. */
  end(options?: EndOptions): Promise<void> {
    this.endOptions ??= readOptions(options);
    this.ending ??= this.finish(this.endOptions);
    return this.ending;
  }

  /** Ends the run as failed. */
  fail(error: unknown): Promise<void> {
    return this.end({ error });
  }

  [Symbol.dispose](): void {
    // An error on its way out of the block is not known yet; when nobody catches it, it ends the run first.
    setImmediate(() => void this.end());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  /** For the end of the process, which leaves time for one write. `options` only count if `end` was not called before. */
  endNow(options: EndOptions): void {
    this.emitEnd(this.endOptions ?? options);
    this.hurry.resolve();
    this.parts.link.flush();
  }

  /** For a signal: what has not arrived shortly before the process ends is put on disk. */
  async endSoon(options: EndOptions): Promise<void> {
    const timers = [
      setTimeout(() => this.endNow(options), signalHashMs),
      setTimeout(() => this.parts.remains.keep(), signalDrainMs),
    ];
    await this.end({ ...options, timeoutMs: signalDrainMs });
    for (const timer of timers) clearTimeout(timer);
  }

  /** For the exit of the process: what has not arrived is sent once more, and then put on disk. Blocks for a moment. */
  exitNow(options: EndOptions): void {
    this.endNow(options);
    this.parts.remains.rescue();
  }

  hear(type: string, meta: Fields, payload: Fields): void {
    const { run_id: runId, wid, seq, status } = payload;
    if (type === "command") this.steering.take(meta["seq"], payload);
    else if (type === "ack" && typeof seq === "number") {
      // Connections can be shared by a proxy, so an ack that names another worker is not ours.
      const isOurs = (runId ?? this.id) === this.id && (wid ?? this.parts.wid) === this.parts.wid;
      if (isOurs) this.parts.outbox.confirm(seq, status !== "error");
    }
  }

  /** Arguments may throw when they are read; then the call only reports that. */
  private try(call: string, work: () => void): void {
    const reason = attempt(work);
    if (reason !== null) this.parts.onProblem(`run.${call}() was left out: ${reason}`);
  }

  private placeOf(options: MetricOptions | undefined): string {
    if (options === undefined || options === null) return "";
    try {
      return formatPlace(options);
    } catch (error) {
      this.parts.onProblem(`the options of run.metric() were left out: ${readReason(error)}`);
      return "";
    }
  }

  private async finish(options: EndOptions): Promise<void> {
    const { link, remains, onEnd } = this.parts;
    if (this.unhashed.size > 0) await Promise.race([Promise.all(this.unhashed), this.hurry.promise]);
    this.emitEnd(options);
    // The command that ends the run gets its answer, unless its handler itself waits for the end.
    await Promise.race([this.steering.settled(), new Promise((done) => setTimeout(done, answerWaitMs))]);
    if (!(await link.drain(toNumberOption(options.timeoutMs) ?? endTimeoutMs))) remains.keep();
    onEnd();
  }

  private emitEnd({ status, error, finalMetrics }: EndOptions): void {
    if (this.isEnded) return;
    this.event("run_end", {
      status: status ?? (error === undefined ? "completed" : "failed"),
      error: error === undefined ? undefined : toRunError(error),
      final_metrics: finalMetrics,
      duration_ms: Math.round(performance.now() - this.startedMs),
    });
    this.isEnded = true;
  }

  private paramAt(key: string, path: readonly string[], value: unknown): void {
    if (isPlainObject(value) && path.length < 16) {
      for (const [name, inner] of Object.entries(value)) this.paramAt(key, [...path, name], inner);
      return;
    }
    const nested = path.length === 0 ? "" : `,"nested_key":${JSON.stringify(path)}`;
    const fields = `"run_id":${this.idJson},"key":${quote(key)},"value":${formatValue(value)}${nested}`;
    this.emit("param", fields, false);
  }

  private async sendArtifact(path: string, { type, name, meta, upload }: ArtifactOptions): Promise<void> {
    const known = await readFileFacts(path);
    this.event("artifact", { path, type, name, meta, ...known, upload: upload ?? "reference" });
  }

  private event(type: string, fields: Values, isDroppable = false): void {
    const body = formatObject(fields).slice(1, -1);
    this.emit(type, `"run_id":${this.idJson}${body === "" ? "" : `,${body}`}`, isDroppable);
  }

  private emit(type: string, fieldsJson: string, isDroppable: boolean): Uint8Array | null {
    if (this.isEnded) {
      this.late++;
      return null;
    }
    const seq = ++this.seq;
    const frame = this.encode(type, seq, fieldsJson);
    this.parts.outbox.push(seq, frame, isDroppable);
    this.parts.link.wake();
    return frame;
  }

  private sendAck(fieldsJson: string): void {
    this.parts.link.sendControl(this.encode("ack", ++this.controlSeq, `"run_id":${this.idJson},${fieldsJson}`));
  }

  private encode(type: string, seq: number, fieldsJson: string): Uint8Array {
    const json = `{"v":1,"t":"${type}","m":{"seq":${seq},"ts":${nowUs()}${this.widJson}},"p":{${fieldsJson}}}`;
    return encodePayload(encoder.encode(json));
  }
}

/** `step`, `epoch` and `ctx`, each with a comma before it. */
function formatPlace(options: MetricOptions): string {
  const { step, epoch, phase, batchSize, datasetSize, agg, ctx } = options;
  let out = "";
  if (step !== undefined) out += `,"step":${formatValue(step)}`;
  if (epoch !== undefined) out += `,"epoch":${formatValue(epoch)}`;
  const hasContext =
    phase !== undefined ||
    batchSize !== undefined ||
    datasetSize !== undefined ||
    agg !== undefined ||
    ctx !== undefined;
  if (hasContext)
    out += `,"ctx":${formatObject({ phase, batch_size: batchSize, dataset_size: datasetSize, agg, ...copyOf(ctx) })}`;
  return out;
}

async function readFileFacts(path: string): Promise<{ size?: number; checksum?: string }> {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) return {};
    const hash = createHash("sha256");
    await pipeline(createReadStream(path), hash);
    return { size: stat.size, checksum: `sha256:${hash.digest("hex")}` };
  } catch {
    return {};
  }
}

function toRunError(error: unknown): Values {
  let said: Values = { type: typeof error, message: "" };
  attempt(() => {
    if (isPlainObject(error)) said = error;
    else if (error instanceof Error) said = { type: error.name, message: error.message, traceback: error.stack };
    else said = { type: typeof error, message: typeof error === "string" ? error : formatValue(error) };
  });
  return said;
}

function isPlainObject(value: unknown): value is Values {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
