// The whole server: a collector, its HTTP and XTrack doors, control and the API, opened and closed in order.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApiContext } from "#api/context.ts";
import type { Handlers } from "#api/handler.ts";
import { createHandlers } from "#api/handlers.ts";
import { Refusal } from "#api/refusal.ts";
import { toCommand } from "#api/routes/commands.ts";
import { nowNs } from "#base/clock.ts";
import { keepAlive } from "#base/keep-alive.ts";
import type { Address } from "#config/kinds.ts";
import { shareMemory } from "#config/memory-shares.ts";
import type { Config } from "#config/settings.ts";
import type { Control } from "#control/control.ts";
import type { AppliedInput } from "#intake/gathering.ts";
import { ownArrival } from "#intake/input.ts";
import type { RefusedInput } from "#intake/refused.ts";
import type { Receipt } from "#intake/sequencer.ts";
import { toGroupKey } from "#intake/xtrack/group-keys.ts";
import { groupKinds, inWorkspace, parseGroupKey } from "#model/group-key.ts";
import type { GroupName } from "#model/names.ts";
import type { StateRow } from "#model/state-tables.ts";
import { createSources } from "#query/sources.ts";
import { BodyQueue } from "#server/body-queue.ts";
import { type Collector, openCollector } from "#server/collector/collector.ts";
import { createCommandRoom } from "#server/collector/commands.ts";
import { type DeletionOrder, orderDeletion } from "#server/collector/deletion.ts";
import { createHttpIntake } from "#server/collector/http-intake.ts";
import { renameCollector } from "#server/collector/identity.ts";
import { MemoryWatch } from "#server/collector/memory-watch.ts";
import { refreshJoins } from "#server/collector/refresh-joins.ts";
import { type Forwarder, openForwarder } from "#server/forward/forward-otlp.ts";
import { createHttpServer, type HttpServer } from "#server/http/create-http-server.ts";
import { KeyWatch } from "#server/http/key-watch.ts";
import { LoggedOut } from "#server/http/logged-out.ts";
import { readOwnerSecret, readSealSecret } from "#server/http/owner-secret.ts";
import type { ServerOptions } from "#server/http/server-options.ts";
import type { Log } from "#server/log.ts";
import { addReadCounter, addReadGauge, createMetrics, type Metrics } from "#server/metrics.ts";
import { type OtlpPorts, openOtlpPorts } from "#server/otlp/ports.ts";
import { SharedDeletions } from "#server/peers/deletions.ts";
import { Peering, type PeeringOptions } from "#server/peers/peering.ts";
import { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import { openWatch, type Watch } from "#server/watch/open-watch.ts";
import { openXtrackDoors, type XtrackDoors, type XtrackDoorsOptions } from "#server/xtrack/doors.ts";
import { RefusedConnections } from "#server/xtrack/refused-connections.ts";
import type { StoreAddress } from "#store/address.ts";
import { listBrokenParts, sayBrokenParts } from "#store/broken-parts.ts";
import type { RuleBook } from "#watch/rule-book.ts";
import { startStore } from "./backends.ts";
import { createBackups } from "./backups.ts";
import { type Closer, closeAll, closeMsMin } from "./close-all.ts";
import { hooksOf } from "./collector-hooks.ts";
import { EventRate } from "./event-rate.ts";
import { createHealth } from "./health.ts";
import { JustDeleted } from "./just-deleted.ts";
import { removeLeftFiles } from "./left-files.ts";
import { configuredAgeMs, createRetention } from "./retention.ts";
import { openRooms } from "./rooms.ts";
import { createStoreTimes } from "./store-times.ts";

export interface App {
  readonly url: string;
  readonly http: HttpServer;
  readonly collector: Collector;
  readonly control: Control;
  /** Where OpenTelemetry exporters connect, beside the server's own port. */
  readonly otlp: OtlpPorts;
  /** Null when rules are not watched. */
  readonly watch: Watch | null;
  /** Where XTrack workers connect, for people. */
  readonly xtrack: readonly string[];
  close(): Promise<void>;
}

/** The part of the time to close that is reserved for storing what was accepted. */
const storeMs = 4000;

export function openApp(config: Config, log: Log, store: StoreAddress = startStore(config, log)): Promise<App> {
  return keepAlive(openParts(config, log, store));
}

async function openParts(config: Config, log: Log, store: StoreAddress): Promise<App> {
  const commands = createCommandRoom();
  const metrics = createMetrics();
  const times = createStoreTimes(metrics);
  const memory = new MemoryWatch(config.memoryBudgetBytes);
  const closers: Closer[] = [async () => memory.close()];
  try {
    const collector = await openCollector({
      ...{ config, store, ...hooksOf(log), strain: () => memory.strain },
      listeners: [commands.listener],
      wrapStore: times.wrap,
    });
    closers.unshift((leftMs) => collector.close(leftMs - closeMsMin));
    await removeLeftFiles(config.dataDir);
    const peering = await meetPeers({ collector, config, log, metrics });
    closers.unshift(async () => peering?.close());
    const deletions = openDeletions(collector, peering);
    closers.unshift(() => deletions.close());
    const { control, keys, blobs, rules } = await openRooms({ collector, config, peering, commands });
    closers.unshift(async () => control.close());
    collector.onApplied((entry) => announceCommands(collector, control, entry));
    let doors: XtrackDoors | null = null;
    const refused = new RefusedConnections(log, metrics);
    const unfinished = new UnfinishedBytes(config.unfinishedBytesMax);
    addReadGauges(metrics, collector, unfinished);
    const keyWatch = new KeyWatch(keys);
    closers.unshift(async () => keyWatch.close());
    const forwarder = await forwardFrom(collector, config, log);
    closers.unshift(async () => forwarder?.close());
    const degraded = (): string[] => [
      ...(peering?.degraded() ?? []),
      ...refused.sentences(),
      ...degradedOf(collector, config.dataDir),
      ...(forwarder?.sentences() ?? []),
    ];
    const health = createHealth({ collector, metrics, times, log, degraded, doors: () => doors });
    closers.unshift(async () => health.close());
    const intake = createHttpIntake(collector, control);
    const queue = new BodyQueue(intake, shareMemory(config.memoryBudgetBytes).bodiesBytes);
    const context = createContext({ collector, deletions, control, config, peering, rules, doors: () => doors });
    const options: ServerOptions = {
      ...{ config, log, metrics, keys, keyWatch, unfinished, queue, intake, blobs },
      loginSecret: readSealSecret(config.dataDir, "login", config.loginSecret),
      loggedOut: new LoggedOut(join(config.dataDir, "logged-out")),
      xtrack: () => toXtrackPlace(config, doors),
      ownerSecret: readOwnerSecret(config.dataDir),
      sockets: { accept: (...given) => doors?.webSocket.accept(...given) },
      readiness: { problems: () => health.problems(), degraded, drained: () => collector.drained() },
      handlers: {
        ...createHandlers(context),
        ...createOwnHandlers(collector, config.dataDir),
        health: () => health.answer(),
      },
      webDir: webDir(),
    };
    const http = await createHttpServer(options);
    closers.unshift((leftMs) => http.close(Math.max(closeMsMin, leftMs - storeMs)));
    doors = await openXtrackDoors({
      ...{ config, unfinished, access: http.access, intake: toXtrackIntake(collector), desk: control },
      onRefused: (reason, address) => refused.note(reason, address),
      watchSource: (source, onGone) => keyWatch.watch(source, onGone),
    });
    closers.unshift(() => (doors as XtrackDoors).close());
    const otlp = await openOtlpPorts(options, http);
    closers.unshift(() => otlp.close());
    peering?.start({ control, keys, onBatchesTaken: () => blobs.look(), workers: () => doors?.presence.all() ?? [] });
    const watch = await openWatch({ collector, control, config, context, peering, log, url: () => http.url });
    closers.unshift(async () => watch?.close());
    const retention = createRetention({ collector, ages: config, order: (order) => deletions.order(order) });
    closers.unshift(() => retention.close());
    const xtrack = toPlaces(doors);
    if (store.kind === "embedded") void store.starting?.then((engine) => engine.giveWay());
    return { url: http.url, http, otlp, collector, control, xtrack, watch, close: () => closeAll(closers) };
  } catch (cause) {
    await closeAll(closers).catch(() => undefined);
    throw cause;
  }
}

function addReadGauges(metrics: Metrics, collector: Collector, unfinished: UnfinishedBytes): void {
  const { setAside, damage, journal, store } = collector;
  const add = (name: string, help: string, read: () => number) => addReadGauge(metrics, name, help, read);
  add("unfinished_bytes", "Bytes of bodies and frames that are still arriving or in hand.", () => unfinished.bytes);
  add(
    "set_aside_records",
    "Accepted records that could not be applied and are set aside.",
    () => setAside.list().length,
  );
  add(
    "journal_torn_bytes",
    "Bytes of a write to the journal that the process before this one did not survive.",
    () => journal.state().tornBytes,
  );
  add("journal_lost_records", "Accepted records that could not be read back from the journal.", () => damage.records);
  const restarted = "Times the embedded engine was started again.";
  addReadCounter(metrics, "engine_restarts_total", restarted, () => store.restarts);
}

/** What does not work although input is accepted. */
function degradedOf({ setAside, damage, blobs, store }: Collector, dataDir: string): string[] {
  const bucket = blobs.isAway ? ["The bucket does not answer: files are refused with 503 until it does."] : [];
  const tables = store.kind === "embedded" ? sayBrokenParts(listBrokenParts(dataDir)) : [];
  return [...setAside.sentences(), ...damage.sentences(), ...tables, ...bucket];
}

function forwardFrom(collector: Collector, config: Config, log: Log): Promise<Forwarder> | null {
  if (config.forwardOtlpUrl === "") return null;
  const headers = config.forwardOtlpHeaders.map((word) => [
    word.split("=")[0] ?? "",
    word.slice(word.indexOf("=") + 1),
  ]);
  const receiver = { url: config.forwardOtlpUrl, headers: Object.fromEntries(headers) as Record<string, string> };
  return openForwarder({ collector, dataDir: config.dataDir, receiver, log });
}

async function meetPeers(parts: Omit<PeeringOptions, "onTwin"> & { readonly config: Config }): Promise<Peering | null> {
  const { collector, config, log } = parts;
  if (config.busUrl === "") return null;
  const peering = new Peering({ ...parts, onTwin: () => void yieldToTwin(collector, config, log) });
  await peering.introduced();
  return peering;
}

/** Nothing accepted is lost: what this process has not stored is in its folder, which gets an id of its own. */
async function yieldToTwin({ id }: Collector, { dataDir }: Config, log: Log): Promise<void> {
  await renameCollector(dataDir);
  log.fatal(
    { collector: id },
    "Another process runs as this collector, from a copy of the data folder. This one ends; started again, it gets its own id.",
  );
  process.exit(twinExitCode);
}

/** EX_TEMPFAIL of sysexits.h: a supervisor should start it again. */
const twinExitCode = 75;

/** Where XTrack workers connect, for people. */
function toPlaces({ addresses }: XtrackDoors): string[] {
  return addresses.map((address) => ("path" in address ? address.path : `${address.host}:${address.port}`));
}

/** Announces every step of a command to subscribers, with the state after it. */
function announceCommands(collector: Collector, control: Control, { applied }: AppliedInput): void {
  const rows = new Map<string, StateRow<"commands">>();
  for (const change of applied.state) if (change.table === "commands") rows.set(change.row.cmd_id, change.row);
  for (const { workspace, run_id: run, cmd_id } of rows.values()) {
    const command = control.list(workspace, run).find((one) => one.cmdId === cmd_id);
    if (command === undefined) continue;
    const shown = collector.applier.state.joins.runOf(workspace, run);
    collector.hub.announce(workspace, "command", { run: shown, command: toCommand(command) });
  }
}

function toXtrackIntake(collector: Collector): XtrackDoorsOptions["intake"] {
  return {
    submit: (input, decoded) => collector.submit(input, decoded),
    hasRoom: (bytes) => collector.journal.roomFor(bytes, false) === null,
    nowNs,
    runOf: (workspace, runId) => collector.applier.state.groups.runOf(toGroupKey(workspace, runId)) ?? runId,
    isFollowed(workspace, runId) {
      const { hub, applier } = collector;
      return hub.isFollowed(workspace, () => applier.state.joinedRunOf(toGroupKey(workspace, runId)));
    },
  };
}

/** Where workers connect; a port chosen by the system is known once the doors are open. */
function toXtrackPlace({ xtrackAddress }: Config, doors: XtrackDoors | null): Address | null {
  const bound = doors?.addresses.find((address) => "port" in address);
  return bound ?? (xtrackAddress === "off" ? null : xtrackAddress);
}

interface Deletions {
  order(order: DeletionOrder): Promise<Receipt>;
  close(): Promise<void>;
}

/** An embedded store deletes directly; on a shared one, an order says what it covers. */
function openDeletions(collector: Collector, peering: Peering | null): Deletions {
  if (collector.store.kind === "embedded")
    return { order: (order) => orderDeletion(collector, order), close: () => Promise.resolve() };
  const shared = peering?.deletions ?? new SharedDeletions(collector, null);
  shared.catchUp();
  return shared;
}

/** Called for every run without an end, so it is quick if nobody is connected. */
function toPresence(
  collector: Collector,
  peering: Peering | null,
  doors: XtrackDoors | null,
): (groupKey: GroupName) => boolean {
  if (peering === null && (doors?.presence.count() ?? 0) === 0) return () => false;
  return (groupKey) => {
    const { workspace, kind, ownId } = parseGroupKey(groupKey);
    if (kind !== groupKinds.xtrackRun) return false;
    const runId = collector.applier.state.runOf(groupKey) ?? ownId;
    const here = doors?.presence.workersOf(workspace, runId).length ?? 0;
    return here > 0 || (peering?.isConnectedElsewhere(workspace, runId) ?? false);
  };
}

interface ContextParts {
  readonly collector: Collector;
  readonly deletions: Deletions;
  readonly control: Control;
  readonly config: Config;
  readonly peering: Peering | null;
  readonly rules: RuleBook;
  doors(): XtrackDoors | null;
}

function createContext(parts: ContextParts): ApiContext {
  const { collector, deletions, control, config, peering, rules, doors } = parts;
  const sources = createSources({
    store: collector.store,
    blobs: collector.blobs,
    caughtUp: () => collector.queryable(collector.sequencer.position.durable),
    keptBytesMax: shareMemory(config.memoryBudgetBytes).answersBytes,
  });
  const rate = new EventRate();
  const justDeleted = new JustDeleted();
  collector.onApplied(({ applied }) => rate.add(applied.accepted));
  return {
    sources,
    sqlRowsMax: config.sqlRowsMax,
    sqlTimeoutMs: config.sqlTimeoutMs,
    rules,
    isWatching: config.watching === "on",
    control,
    hub: peering?.live ?? collector.hub,
    asOf: () => peering?.asOf() ?? collector.hub.idOf(collector.writer.stored),
    head: () => ({
      nowNs: nowNs(),
      silenceNs: BigInt(config.runSilenceMs) * 1_000_000n,
      isConnected: toPresence(collector, peering, doors()),
    }),
    configuredAgeMs: (workspace) => configuredAgeMs(config, workspace),
    liveStats: () => ({
      events_per_s: rate.perSecond(),
      waiting_events: collector.sequencer.position.durable - collector.writer.stored,
      waiting_bytes: collector.writer.pendingBytes,
      connections: doors()?.connections.open ?? 0,
    }),
    async change(changes, workspace, author) {
      const { position } = await collector.change(changes, workspace, author);
      await collector.queryable(position);
    },
    async keepFaults(faults, workspace) {
      const arrival = { ...ownArrival(workspace), imported: true };
      for (const { id: faultId, group, raw_base64, ...fault } of faults) {
        const kept = {
          ...fault,
          faultId,
          groupKey: inWorkspace(workspace, group),
          body: Buffer.from(raw_base64, "base64"),
        };
        const input: RefusedInput = { kind: "refused", ...arrival, ...kept };
        const submitted = collector.submit(input);
        if (typeof submitted === "string") throw new Refusal("busy", "There is no room for more at the moment.");
        await collector.queryable((await submitted.applied).position);
      }
    },
    wasJustDeleted: (workspace, id) => justDeleted.has(workspace, id),
    async deleteRuns(workspace, runs, author) {
      // A record accepted a moment ago may have moved a group to or from a run.
      await collector.sequencer.hadTurn();
      // So may people at another collector.
      if (collector.store.kind === "server") await refreshJoins(collector);
      const stored = new Map(runs.map(({ runId, groups }) => [runId, groups.map((group) => group.groupKey)]));
      const now = collector.applier.state.groupsNow(workspace, stored);
      const orders = [...now].map(([runId, groupKeys]) => ({ runId, groupKeys }));
      const { position } = await deletions.order({ workspace, runs: orders, author });
      await collector.queryable(position);
      justDeleted.note(workspace, stored.keys());
    },
  };
}

/** Routes about the data folder itself. */
function createOwnHandlers(
  collector: Collector,
  dataDir: string,
): Pick<Handlers, "backup" | "setAside" | "retryAside"> {
  return {
    backup: createBackups(collector, dataDir),
    setAside: () => ({ records: collector.setAside.describe() }),
    async retryAside({ body }) {
      const tried = await collector.retryAside(body.positions ?? null);
      return { tried, left: collector.setAside.list().length };
    },
  };
}

/** Where the browser application was built: from a checkout's sources, or beside the bundle of a release. */
function webDir(): string {
  const places = ["../../../dist/web", "../web", "./web"];
  const paths = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return paths.find((path) => existsSync(join(path, "index.html"))) ?? (paths[0] as string);
}
