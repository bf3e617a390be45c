// Keeps one engine process alive: starts it, listens for its heartbeat, and restarts it when it ends or goes silent.
// Callers wait with `whenReady`. If another process owns the data folder, the start waits and then fails.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { StoreOutage } from "#store/outage.ts";
import {
  type Confinement,
  confine,
  engineEnvironment,
  isRefusal,
  mayBeOfFence,
  strongest,
  weakerThan,
} from "./confinement.ts";
import { fileRules } from "./file-rules.ts";
import { giveWay } from "./give-way.ts";
import type { EngineLoad, EngineOptions, FromEngine, ToEngine } from "./messages.ts";
import { findLiveOwner, type LiveOwner } from "./owner.ts";

export interface SupervisorOptions extends EngineOptions {
  /** How long a start waits for a folder that another server still has. */
  readonly folderWaitMs: number;
  /** A folder made for the socket alone, removed at the end. */
  readonly socketFolder?: string | null;
  /** How often the engine must show that it answers. Default 1000. */
  readonly pingEveryMs?: number;
  /** How long a new engine may be silent before it is replaced; doubled after each failure. Default 60,000. */
  readonly firstWordMs?: number;
  /** The confinement to begin with, weakened if the system does not offer it. Default: the strongest. */
  readonly confinement?: Confinement;
  readonly alsoReads?: string;
  /** The engine's own words on stderr, for the log. */
  onEngineText?(text: string): void;
  onCrash?(reason: string): void;
}

const pingEveryMsDefault = 1000;
const firstWordMsDefault = 60_000;
/**
 * This many unanswered pings count as a hang. A long query does not cause one, because the probe has a session of its
 * own. They are counted rather than timed: a server that itself stood still would otherwise find its engine silent.
 */
const unansweredMax = 10;
/** Most commands take less than this. */
const briefMs = 60_000;
const backOffMsMax = 2000;
const readyWaitMs = 10_000;
const stopMsMax = 3000;

/**
 * The strongest confinement that is worth trying: what this machine has refused to one engine it refuses to the next
 * one too.
 */
let strongestOffered = strongest;

export class EngineSupervisor {
  restarts = 0;
  load: EngineLoad = {};
  private readonly options: SupervisorOptions;
  private child: ChildProcess | null = null;
  private ready = Promise.withResolvers<void>();
  private isReady = false;
  private closing = false;
  private failedStarts = 0;
  private givesWay = false;
  private confinedBy: Confinement;
  /** True once an engine has answered: then this machine offers the confinement. */
  private isOffered = false;
  /** The engine failed behind the fence, rather than the machine offering none: the next folder may differ. */
  private isUnfenced = false;
  /** The end of what the engine wrote to stderr, which is where chDB says why it does not open a folder. */
  private lastText = "";

  private constructor(options: SupervisorOptions) {
    this.options = options;
    this.confinedBy = options.confinement ?? strongestOffered;
  }

  /** Resolves when the engine answers; throws `folder_taken` when another process keeps the folder. */
  static async start(options: SupervisorOptions): Promise<EngineSupervisor> {
    const supervisor = new EngineSupervisor(options);
    // Counted from when the owner was first seen: on a busy machine an engine may take longer to find the lock than the
    // lock is waited for.
    let since: number | null = null;
    for (;;) {
      const owner = findLiveOwner(options.dataDir, process.pid);
      const outcome = owner === null ? await supervisor.launch() : { kind: "taken" as const, owner };
      if (outcome.kind === "ready") return supervisor;
      if (outcome.kind !== "taken") throw new StoreOutage("engine_down", supervisor.whyNot(outcome));
      since ??= performance.now();
      const waitMs = outcome.owner?.isBrief === true ? Math.max(briefMs, options.folderWaitMs) : options.folderWaitMs;
      if (performance.now() >= since + waitMs) throw folderTaken(options.dataDir, outcome.owner);
      await sleep(50);
    }
  }

  get socketPath(): string {
    return this.options.socketPath;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  get confinement(): Confinement {
    return this.confinedBy;
  }

  /** Resolves while the engine can be called; waits out a restart. */
  async whenReady(): Promise<void> {
    if (this.isReady) return;
    if (this.closing) throw new StoreOutage("closed", "the store is closed");
    const late = sleep(readyWaitMs, "late" as const, { ref: false });
    if ((await Promise.race([this.ready.promise, late])) === "late") {
      throw new StoreOutage("engine_down", "the engine does not start");
    }
  }

  /**
   * From now on the server goes first if both want a core. Until then the server is starting, and waits for its engine.
   */
  giveWay(): void {
    this.givesWay = true;
    if (this.isReady && this.child?.pid !== undefined) void giveWay(this.child.pid);
  }

  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    const wasReady = this.isReady;
    this.isReady = false;
    this.ready.promise.catch(() => {});
    this.ready.reject(new StoreOutage("closed", "the store is closed"));
    if (this.child !== null && !hasEnded(this.child)) await end(this.child, wasReady ? stopMsMax : 0);
    const { socketFolder = null } = this.options;
    if (socketFolder !== null) rmSync(socketFolder, { recursive: true, force: true });
  }

  private whyNot(outcome: FromEngine): string {
    const reason = outcome.kind === "failed" ? outcome.reason : "it gave no reason";
    return `the engine did not start: ${reason}. ${this.lastText.trim()}`.trim();
  }

  /** Starts a process and waits for its first word. */
  private async launch(): Promise<FromEngine> {
    const program = engineProgram();
    const rules = (): string[] => fileRules(program, this.options.dataDir, this.options.alsoReads);
    const [file, ...words] = confine(this.confinedBy, [process.execPath, program], rules);
    const child = spawn(file, words, {
      env: engineEnvironment(process.env),
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      // A group of its own, so that Ctrl-C reaches the server alone.
      detached: true,
    });
    this.child = child;
    this.lastText = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.lastText = (this.lastText + text).slice(-2000);
      this.options.onEngineText?.(text);
    });
    const {
      onEngineText,
      onCrash,
      confinement,
      socketFolder,
      firstWordMs = firstWordMsDefault,
      ...options
    } = this.options;
    // After `close` nothing more comes from its stderr either.
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    tell(child, { kind: "start", options, serverPid: process.pid });
    // A process that is stopped, or hangs before its first message, neither speaks nor ends.
    const silentMs = firstWordMs * 2 ** this.failedStarts;
    const patience = new AbortController();
    let isRefused = false;
    let crash: NodeJS.Signals | null = null;
    const outcome = await new Promise<FromEngine>((resolve) => {
      const fail = (reason: string): void => resolve({ kind: "failed", reason });
      child.once("message", (message) => resolve(message as FromEngine));
      child.once("exit", (code, signal) => {
        isRefused = isRefusal(code);
        crash = signal;
        fail(`it ended with ${signal ?? code}`);
      });
      child.once("error", (error) => {
        isRefused = true;
        fail(error.message);
      });
      sleep(silentMs, undefined, { signal: patience.signal }).then(
        () => fail(`it said nothing for ${silentMs / 1000} s`),
        () => {},
      );
    });
    patience.abort();
    if (outcome.kind !== "ready") {
      child.kill("SIGKILL");
      await closed;
      return this.afterFailure(outcome, isRefused, crash);
    }
    this.watch(child);
    this.isReady = true;
    this.isOffered = true;
    if (this.options.confinement === undefined && !this.isUnfenced) strongestOffered = this.confinedBy;
    this.failedStarts = 0;
    if (this.givesWay) this.giveWay();
    this.ready.resolve();
    return outcome;
  }

  /**
   * Retries with a weaker confinement if that may be why it failed; reports the owner if another process has the
   * folder.
   */
  private async afterFailure(
    outcome: FromEngine,
    isRefused: boolean,
    crash: NodeJS.Signals | null,
  ): Promise<FromEngine> {
    if (outcome.kind !== "failed" || this.closing) return outcome;
    if (isLock(this.lastText)) return { kind: "taken", owner: findLiveOwner(this.options.dataDir, process.pid) };
    if (this.isOffered || this.confinedBy === "none") return outcome;
    if (!isRefused) {
      if (!this.confinedBy.startsWith("files") || !mayBeOfFence(`${outcome.reason} ${this.lastText}`, crash))
        return outcome;
      this.isUnfenced = true;
    }
    this.confinedBy = weakerThan(this.confinedBy);
    return this.launch();
  }

  private watch(child: ChildProcess): void {
    let unanswered = 0;
    let serial = 0;
    const timer = setInterval(() => {
      if (unanswered++ >= unansweredMax) child.kill("SIGKILL");
      else tell(child, { kind: "ping", serial: serial++ });
    }, this.options.pingEveryMs ?? pingEveryMsDefault);
    timer.unref();
    child.on("message", (message: FromEngine) => {
      unanswered = 0;
      if (message.kind === "pong") this.load = message.load;
    });
    child.once("exit", (code, signal) => {
      clearInterval(timer);
      if (!this.closing) this.restart(`the engine ended with ${signal ?? code}`);
    });
    // The engine must not keep an idle process alive; it ends with its server.
    child.unref();
    child.channel?.unref();
    (child.stderr as unknown as { unref?: () => void } | null)?.unref?.();
  }

  private restart(reason: string): void {
    this.isReady = false;
    this.ready = Promise.withResolvers();
    this.ready.promise.catch(() => {});
    this.restarts++;
    this.options.onCrash?.(reason);
    void this.relaunch();
  }

  private async relaunch(): Promise<void> {
    while (!this.closing) {
      // A system that is short of memory may refuse to start a process at all.
      const outcome = await this.launch().catch(() => null);
      if (outcome?.kind === "ready") return;
      this.failedStarts++;
      await sleep(Math.min(backOffMsMax, 50 * 2 ** this.failedStarts), undefined, { ref: false });
    }
  }
}

/** ClickHouse has the same code for a folder that another process has locked and for a file that cannot be opened. */
function isLock(text: string): boolean {
  return /\bCode: 76\b.*Cannot lock file/.test(text);
}

async function end(child: ChildProcess, withinMs: number): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  tell(child, { kind: "stop" });
  const timer = setTimeout(() => child.kill("SIGKILL"), withinMs);
  await ended;
  clearTimeout(timer);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function folderTaken(dataDir: string, owner: LiveOwner | null): StoreOutage {
  const which = owner?.isBrief === true ? `process ${owner.pid}, a command that still runs` : `process ${owner?.pid}`;
  const who = owner === null ? "another process" : which;
  return new StoreOutage("folder_taken", `the data folder ${dataDir} belongs to ${who}; stop it or use another folder`);
}

function tell(child: ChildProcess, message: ToEngine): void {
  // If the channel closes meanwhile, `exit` follows.
  if (child.connected) child.send(message, () => {});
}

/** The program is beside this file in a checkout; in a release it is beside the bundle or one folder up. */
function engineProgram(): string {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const places = [`./engine-main.${extension}`, `../engine-main.${extension}`];
  const paths = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return paths.find((path) => existsSync(path)) ?? (paths[0] as string);
}
