// The whole server: a collector, its HTTP and XTrack doors, control and the API, opened and closed in order.

import { randomBytes, randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApiContext } from "#api/context.ts";
import { createHandlers } from "#api/handlers.ts";
import { Refusal } from "#api/refusal.ts";
import { defaultJsonLimits } from "#base/json/value.ts";
import type { Config } from "#config/settings.ts";
import { fromCommandRow, toStateChange } from "#control/command.ts";
import { type Control, createControl } from "#control/control.ts";
import type { DecodedXtrack } from "#intake/xtrack/stream.ts";
import { readDurable, writeDurably } from "#journal/durable-file.ts";
import { nodeFiles } from "#journal/files.ts";
import type { StateRow } from "#model/state-tables.ts";
import { type Collector, type CollectorOptions, nowNs, openCollector } from "#server/collector/collector.ts";
import { createHttpIntake } from "#server/collector/http-intake.ts";
import { createKeyStore } from "#server/collector/key-store.ts";
import { createHttpServer, type HttpServer } from "#server/http/create-http-server.ts";
import type { Log } from "#server/log.ts";
import { createMetrics } from "#server/metrics.ts";
import type { ConnectionCounters, ConnectionRules } from "#server/xtrack/connection.ts";
import { createIntakeSink, type IntakeSink } from "#server/xtrack/intake-sink.ts";
import { toWorkerNews } from "#server/xtrack/news.ts";
import { outgoingLimitsDefault } from "#server/xtrack/outgoing.ts";
import type { Gate } from "#server/xtrack/ports.ts";
import { createSocketServer, type SocketServer } from "#server/xtrack/sockets.ts";
import { createWebSocketDoor } from "#server/xtrack/web-socket.ts";
import { readStateRows } from "#store/reader/restore.ts";
import { createReads } from "./reads.ts";

export interface App {
  readonly url: string;
  readonly http: HttpServer;
  readonly collector: Collector;
  readonly control: Control;
  /** Where XTrack workers connect, for people. */
  readonly xtrack: readonly string[];
  close(): Promise<void>;
}

const drainMs = 8000;

export async function openApp(config: Config, log: Log): Promise<App> {
  const collector = await openCollector(toCollectorOptions(config, log));
  const closers: (() => Promise<void>)[] = [() => collector.close(drainMs)];
  try {
    const control = await openControl(collector, log);
    closers.unshift(async () => control.close());
    const sink = openSink(collector, config);
    closers.unshift(async () => sink.close());
    const counters = createCounters();
    const rules = toRules(config);
    const door = createWebSocketDoor({ rules, ports: { sink, desk: control, nowUs }, counters });
    const keys = await createKeyStore(collector);
    const http = await createHttpServer({
      config,
      log,
      metrics: createMetrics(),
      keys,
      loginSecret: await readSecret(join(config.dataDir, "login-secret")),
      intake: createHttpIntake(collector),
      blobs: { putBlob: refuseBlobs, putArtifact: refuseBlobs },
      sockets: { accept: (socket, caller, peer) => door.accept(socket, caller, peer) },
      readiness: { problems: () => [], drained: () => collector.drained() },
      handlers: createHandlers(createContext(collector, config, sink)),
      webDir: webDir(),
    });
    closers.unshift(() => http.close(drainMs));
    closers.unshift(() => door.close());
    const gate: Gate = {
      admit(key, address) {
        const caller = http.access.identifyKey(key, address);
        return caller instanceof Refusal || !caller.scopes.has("ingest") ? null : caller;
      },
    };
    const listeners: SocketServer[] = [];
    for (const listen of listenAddresses(config)) {
      const { xtrackConnectionsMax: connectionsMax } = config;
      const ports = { sink, gate, desk: control, nowUs };
      const server = await createSocketServer({ listen, connectionsMax, rules, ports, counters });
      listeners.push(server);
      closers.unshift(() => server.close());
    }
    control.ready();
    const xtrack = listeners.map(({ address }) =>
      "path" in address ? address.path : `${address.host}:${address.port}`,
    );
    return { url: http.url, http, collector, control, xtrack, close: () => closeAll(closers) };
  } catch (cause) {
    await closeAll(closers);
    throw cause;
  }
}

async function closeAll(closers: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of closers) await close();
}

function toCollectorOptions(config: Config, log: Log): CollectorOptions {
  const { dataDir } = config;
  return {
    dataDir,
    store:
      config.storeUrl === ""
        ? {
            kind: "embedded",
            dataDir,
            onCrash: (reason) => log.error({ reason }, "the engine ended and is started again"),
          }
        : {
            kind: "server",
            url: config.storeUrl,
            user: config.storeUser,
            password: config.storePassword,
            database: config.storeDatabase,
            ...(config.storeCluster === "" ? {} : { cluster: config.storeCluster }),
          },
    sessionGapNs: BigInt(config.sessionGapMs) * 1_000_000n,
    json: { ...defaultJsonLimits, depthMax: config.jsonDepthMax },
    journalBudgetBytes: config.journalBudgetBytes,
    pendingBytesMax: config.memoryBudgetBytes,
    onTrouble: (message, cause) => log.warn({ err: cause }, message),
    onFatal: (cause) => {
      log.fatal({ err: cause }, "Something that must not happen did; the process ends and loses nothing accepted.");
      process.exit(70);
    },
  };
}

/** Commands: folded from the store and the journal, recorded as changes of the small state. */
async function openControl(collector: Collector, log: Log): Promise<Control> {
  const control = createControl({
    async record(steps) {
      const changes = steps.map((step) => toStateChange(step, nowNs()));
      await collector.change(changes, steps[0]?.workspace ?? "default", steps[0]?.author ?? "");
    },
    nowNs,
    createId: randomUUID,
    onTrouble: (cause) => log.warn({ err: cause }, "A command's step could not be recorded."),
  });
  const rows = await readStateRows<StateRow<"commands">>(collector.store, "commands");
  const steps = rows.map((row) => ({ ...row, at_ns: BigInt(row.at_ns), expires_ns: BigInt(row.expires_ns) }));
  control.fold(steps.flatMap((row) => fromCommandRow(row) ?? []));
  collector.onApplied(({ input, applied }) => {
    const folded = applied.state.flatMap((change) =>
      change.table === "commands" ? (fromCommandRow(change.row) ?? []) : [],
    );
    if (folded.length > 0) control.fold(folded);
    if (input.kind !== "xtrack_frames") return;
    for (const news of toWorkerNews(applied.parts, input.workspace, (key) => collector.applier.runOf(key)))
      control.observe(news);
  });
  return control;
}

function openSink(collector: Collector, config: Config): IntakeSink {
  return createIntakeSink({
    submit: (input, decoded) => collector.submit(input, decoded),
    decode: (input) => collector.applier.decode(input) as DecodedXtrack,
    nowNs,
    runOf: (workspace, runId) => collector.applier.groups.runOf(`${workspace}/x/${runId}`) ?? runId,
    frameBytesMax: config.frameBytesMax,
    heldBytesMax: config.memoryBudgetBytes,
  });
}

function createContext(collector: Collector, config: Config, sink: IntakeSink): ApiContext {
  return {
    reads: createReads(collector.store),
    asOf: () => collector.hub.idOf(collector.writer.stored),
    head: () => ({
      nowNs: nowNs(),
      silenceNs: BigInt(config.runSilenceMs) * 1_000_000n,
      isConnected(groupKey) {
        const [workspace, kind, ...id] = groupKey.split("/");
        const runId = collector.applier.runOf(groupKey) ?? id.join("/");
        return kind === "x" && sink.presence.workersOf(workspace as string, runId).length > 0;
      },
    }),
  };
}

function toRules(config: Config): ConnectionRules {
  return {
    acks: config.xtrackAcks,
    firstFrameTimeoutMs: config.firstFrameTimeoutMs,
    pendingBytesMax: 8 * 1024 * 1024,
    outgoing: outgoingLimitsDefault,
  };
}

function createCounters(): ConnectionCounters {
  return {
    accepted: 0,
    open: 0,
    unauthorized: 0,
    unauthorizedBytes: 0,
    timedOut: 0,
    overLimit: 0,
    resets: 0,
    bytes: 0,
    pauses: 0,
    acksSent: 0,
    acksDropped: 0,
    commandsSent: 0,
  } as ConnectionCounters;
}

function listenAddresses(config: Config): ({ host: string; port: number } | { path: string })[] {
  return [
    ...(config.xtrackAddress === "off" ? [] : [config.xtrackAddress]),
    ...(config.xtrackUnixPath === "" ? [] : [{ path: config.xtrackUnixPath }]),
  ];
}

async function refuseBlobs(): Promise<{ refused: true; code: string; message: string }> {
  return { refused: true, code: "blobs_off", message: "This server keeps no blobs yet." };
}

/** What logins are signed with: made once, readable by the server's user alone. */
async function readSecret(path: string): Promise<Uint8Array> {
  const known = await readDurable(nodeFiles, path);
  if (known !== undefined) return known;
  const secret = randomBytes(32);
  await writeDurably(nodeFiles, path, secret);
  return secret;
}

function webDir(): string {
  return join(dirname(fileURLToPath(import.meta.url)), "../../../dist/web");
}

function nowUs(): number {
  return Math.round(performance.timeOrigin * 1000 + performance.now() * 1000);
}
