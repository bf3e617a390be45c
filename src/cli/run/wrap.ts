// Runs a program under capture. The program comes first: it gets its output through, its signals and its exit code, and
// nothing here ever makes it wait, fail or end.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { constants, hostname } from "node:os";
import { join, resolve, sep } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { Client } from "#cli/client.ts";
import type { Context } from "#cli/context.ts";
import { whyNot } from "#cli/sentence.ts";
import { printedRoutes } from "#protocol/facts.ts";
import type { Sentinel } from "#wire/cirron/sentinel.ts";
import { type CommandLink, createCommandLink } from "./command-link.ts";
import { createLeftFolder, gatherLeft, toRecorderEnv } from "./flight-record.ts";
import { FrameRequests } from "./frame-requests.ts";
import type { Left } from "./kept-requests.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import { LineCollector, OutputSplitter } from "./output.ts";
import { createSampler } from "./sampler.ts";
import { sendRequest, toSpoolRoot } from "./spool.ts";

export interface WrapOptions {
  readonly context: Context;
  readonly client: Client;
  readonly key: string;
  readonly command: readonly string[];
  readonly runId: string;
  readonly name: string;
  readonly dataDir: string;
  /** How often the machine is sampled; 0 for never. */
  readonly sampleMs: number;
}

export interface WrapResult {
  /** What a shell would say: 128 and the signal's number when the program was killed. */
  readonly exitCode: number;
  /** Requests that no server has taken. */
  readonly left: Left;
  /** Why the program could not be started; '' when it was. */
  readonly problem: string;
}

const flushMs = 200;
const closeMs = 2000;
const requestBytes = 1024 * 1024;
const forwarded = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** Variables that point all three clients at this run; what the person has set stays. */
export function toChildEnv(
  env: Context["env"],
  runId: string,
  serverUrl: string,
  recorder: Record<string, string> = {},
): Record<string, string | undefined> {
  return {
    ...recorder,
    TRIBUTARY_RUN_ID: runId,
    TRIBUTARY_SERVER: serverUrl,
    XTRACK_TRANSPORT: "stdio",
    XTRACK_COMMANDS: "stdin",
    CIRRON_RUN_ID: runId,
    // Python would otherwise keep its output back until it ends.
    PYTHONUNBUFFERED: "1",
    ...env,
  };
}

export async function wrap(options: WrapOptions): Promise<WrapResult> {
  const { context, client, runId, dataDir, key } = options;
  const wrapperId = randomBytes(8).toString("hex");
  const folder = join(toSpoolRoot(dataDir), `${Date.now()}-${wrapperId}`);
  const onUnwritable = (code: string | undefined) =>
    context.stderr.write(
      `tributary: ${dataDir} cannot be written to (${whyNot(code)}); what no server takes is held in memory\n`,
    );
  const outbox = createOutbox({ client, folder, onUnwritable });
  const capture = new Capture(options, outbox, wrapperId);
  const leftFolder = createLeftFolder();
  const child = spawnChild(options, leftFolder);
  const link = createCommandLink({ url: client.url, key, runId, onBytes: (bytes) => writeCommand(child, bytes) });
  capture.listen(child, link);
  const stopForwarding = forwardSignals(child);
  const ended = waitForEnd(child, options.command[0] ?? "");
  capture.record("wrapper_start", toStart(options));
  const flushing = setInterval(() => capture.flush(false), flushMs);
  const stopSampling = startSampling(child, options.sampleMs, capture);
  try {
    const { code, signal, problem } = await ended;
    // Nothing may come any more while what is left is sent.
    stopSampling();
    clearInterval(flushing);
    const failure = problem === "" ? {} : { error: problem };
    capture.flush(true);
    capture.record("wrapper_exit", { code, signal, ...failure });
    for (const { type, payload } of await gatherLeft(leftFolder).catch(() => [])) capture.record(type, payload);
    await capture.settle();
    const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
    return { exitCode, left: await outbox.close(closeMs), problem };
  } finally {
    clearInterval(flushing);
    stopSampling();
    stopForwarding();
    link.close();
    context.stdin.unpipe?.();
    context.stdin.pause();
  }
}

function spawnChild({ context, command, runId, client }: WrapOptions, leftFolder: string | null): ChildProcess {
  const [program = "", ...args] = command;
  // A group of its own: a Ctrl-C of the terminal reaches us alone, and is passed on exactly once to all of it.
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true,
    env: toChildEnv(context.env, runId, client.url, toRecorderEnv(leftFolder)) as NodeJS.ProcessEnv,
  });
  child.stdin?.on("error", () => undefined);
  // No faster than the program reads: a long file would otherwise lie in memory here.
  if (!context.stdin.isTTY && child.stdin !== null) context.stdin.pipe(child.stdin);
  return child;
}

/** To standard input, or, when that has ended (as with /dev/null), back through the socket that frames come from. */
function writeCommand(child: ChildProcess, bytes: Uint8Array): void {
  const frames = child.stdio[3] as Writable | undefined;
  if (child.stdin?.writable) child.stdin.write(bytes);
  else if (frames?.writable) frames.write(bytes);
}

function forwardSignals(child: ChildProcess): () => void {
  const handlers = forwarded.map((signal) => {
    const handler = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal);
      } catch {
        // The program has ended; its exit is on its way.
      }
    };
    process.on(signal, handler);
    return [signal, handler] as const;
  });
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}

interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly problem: string;
}

/** The program has ended and everything it wrote was read; or it was never started, with the code a shell has for that. */
function waitForEnd(child: ChildProcess, program: string): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, problem: "" }));
    child.once("error", ({ code }: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      if (code === "ENOENT") resolve({ code: 127, signal: null, problem: `${program} was not found` });
      else resolve({ code: 126, signal: null, problem: `${program} could not be started (${code})` });
    });
  });
}

function startSampling(child: ChildProcess, sampleMs: number, capture: Capture): () => void {
  if (sampleMs === 0 || child.pid === undefined) return () => undefined;
  const sampler = createSampler(child.pid);
  let busy = false;
  const timer = setInterval(async () => {
    if (busy) return;
    busy = true;
    capture.record("sample", await sampler.sample().catch(() => ({})));
    busy = false;
  }, sampleMs);
  return () => clearInterval(timer);
}

function toStart({ name, command, context }: WrapOptions) {
  const user = context.env["USER"] ?? context.env["LOGNAME"] ?? "";
  return { name, command: [...command], cwd: process.cwd(), host: hostname(), user };
}

/** Sorts what a program writes into requests. */
class Capture {
  private readonly options: WrapOptions;
  private readonly outbox: Outbox;
  private readonly wrapperId: string;
  private readonly lines = { stdout: new LineCollector(), stderr: new LineCollector() };
  private readonly blobs: Promise<void>[] = [];
  private readonly frames = { printed: new FrameRequests(), own: new FrameRequests() };
  private records = "";
  private recordCount = 0;

  constructor(options: WrapOptions, outbox: Outbox, wrapperId: string) {
    this.options = options;
    this.outbox = outbox;
    this.wrapperId = wrapperId;
  }

  listen(child: ChildProcess, link: CommandLink): void {
    const { stdout, stderr } = this.options.context;
    // Whoever read the output may have gone, as with `| head`: the program goes on, and so does its record.
    stdout.on?.("error", () => undefined);
    const split = (frames: FrameRequests, onText: (text: Uint8Array) => void) =>
      new OutputSplitter({
        onFrame: (frame) => this.takeFrame(frame, frames, link),
        onDamaged: (bytes) => frames.addDamaged(bytes),
        onSentinel: (sentinel) => this.takeSentinel(sentinel),
        onText,
      });
    const printed = split(this.frames.printed, (text) => {
      stdout.write(text);
      this.takeOutput("stdout", text);
    });
    // Text on the frames' descriptor is a mistake: a program took the descriptor for a file of its own.
    const framed = split(this.frames.own, (text) => this.takeOutput("stderr", text));
    feed(child.stdout, printed);
    feed(child.stdio[3] as Readable, framed);
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr.write(chunk);
      this.takeOutput("stderr", chunk);
    });
    (child.stdio[3] as Writable | null)?.on("error", () => undefined);
  }

  private takeOutput(stream: "stdout" | "stderr", text: Uint8Array): void {
    this.lines[stream].add(text);
    if (this.lines[stream].bytes > requestBytes) this.flushOutput(stream, false);
  }

  private takeFrame(frame: Uint8Array, frames: FrameRequests, link: CommandLink): void {
    if (frames.addFrame(frame)) link.announce(frame);
    if (frames.bytes > requestBytes) this.flushFrames(frames);
  }

  private takeSentinel(sentinel: Sentinel): void {
    const { runId, client } = this.options;
    if (sentinel.kind === "trace_batch") {
      const body = sentinel.batch.slice();
      this.outbox.add({ route: printedRoutes.batch, params: { run: runId }, query: {}, body });
    } else {
      const path = resolve(sentinel.localPath);
      // The program names the path, so only files below its working directory are read.
      if (!path.startsWith(process.cwd() + sep)) return;
      const params = { run: runId, "*": sentinel.remoteKey };
      // Not through the queue, which holds requests in memory, as long as a server takes the file.
      const send = async () => {
        const request = { route: printedRoutes.blob, params, query: {}, body: await readFile(path) };
        await sendRequest(client, request).catch(() => this.outbox.add(request));
      };
      this.blobs.push(send().catch(() => undefined));
    }
  }

  record(type: string, payload: object): void {
    const tsNs = String(BigInt(Date.now()) * 1_000_000n);
    this.records += `${JSON.stringify({ n: this.recordCount++, type, ts_ns: tsNs, payload })}\n`;
    if (type !== "sample") this.flushRecords();
  }

  flush(atEnd: boolean): void {
    this.flushOutput("stdout", atEnd);
    this.flushOutput("stderr", atEnd);
    this.flushFrames(this.frames.printed);
    this.flushFrames(this.frames.own);
    this.flushRecords();
  }

  private flushOutput(stream: "stdout" | "stderr", atEnd: boolean): void {
    const taken = this.lines[stream].take(atEnd);
    if (!taken) return;
    // The time of printing: it may be long until a server can be reached.
    const at_ns = String(BigInt(Date.now()) * 1_000_000n);
    const query = { wrapper: this.wrapperId, stream, offset: taken.offset, at_ns };
    this.outbox.add({ route: "output", params: this.params, query, body: taken.bytes });
  }

  private flushFrames(frames: FrameRequests): void {
    const request = frames.take();
    if (request === null) return;
    const query = { run: this.options.runId, ...request.query };
    this.outbox.add({ route: printedRoutes.frames, params: {}, query, body: request.body });
  }

  private flushRecords(): void {
    if (this.records === "") return;
    const body = Buffer.from(this.records);
    this.records = "";
    this.outbox.add({ route: "wrapper", params: this.params, query: { wrapper: this.wrapperId }, body });
  }

  private get params(): { run: string } {
    return { run: this.options.runId };
  }

  /** Resolves when blobs that were read from disk are sent or given up. */
  async settle(): Promise<void> {
    await Promise.all(this.blobs);
  }
}

function feed(stream: Readable | null, splitter: OutputSplitter): void {
  stream?.on("data", (chunk: Buffer) => splitter.push(chunk));
  stream?.once("close", () => splitter.finish());
  stream?.on("error", () => undefined);
}
