// The health of the server: counters for Prometheus, figures for the Health page, and the reasons why it is not ready.
// It only observes; nothing waits for it.

import type { HealthAnswer } from "#api/contract/admin.ts";
import { nowNs } from "#base/clock.ts";
import type { DiskOutageKind } from "#base/disk-outage.ts";
import { version } from "#base/version.ts";
import type { AppliedInput } from "#intake/gathering.ts";
import { hasTrait, protocolsWith } from "#protocol/facts.ts";
import { protocolOfInput } from "#protocol/protocols.ts";
import type { Collector } from "#server/collector/collector.ts";
import type { Log } from "#server/log.ts";
import type { Metrics } from "#server/metrics.ts";
import type { ConnectionInfo } from "#server/xtrack/connection.ts";
import type { XtrackDoors } from "#server/xtrack/doors.ts";
import { readMissing } from "#store/reader/group-facts.ts";
import { EventRate } from "./event-rate.ts";
import { LagWatch } from "./lag-watch.ts";
import { MissingEvents } from "./missing-events.ts";
import type { StoreTimes } from "./store-times.ts";

export interface Health {
  /** Sentences about problems; empty if there are none. */
  problems(): readonly string[];
  answer(): Promise<HealthAnswer>;
  close(): void;
}

export interface HealthOptions {
  readonly collector: Collector;
  readonly metrics: Metrics;
  readonly times: StoreTimes;
  readonly log: Log;
  /** Sentences about what does not work between collectors. */
  degraded(): readonly string[];
  doors(): XtrackDoors | null;
}

const stepMs = 5000;
const historyMax = 120;
/** A store that takes longer than this to catch up is worth a sentence. */
const lagProblemMs = 30_000;

interface ProtocolCounts {
  accepted: number;
  duplicates: number;
  faults: number;
  readonly rate: EventRate;
}

/** The key of an object that need not exist. */
const probeKey = "tributary-probe";
/** Missing sequence numbers are counted once in so many looks. */
const looksPerCount = 12;

export function createHealth(options: HealthOptions): Health {
  const { collector, metrics, times } = options;
  const startedNs = nowNs();
  const lag = new LagWatch();
  const rate = new EventRate();
  const counts = new Map<string, ProtocolCounts>();
  const history = { events: [] as number[], lagMs: [] as number[], waiting: [] as number[] };
  const missing = new MissingEvents(() => readMissing(collector.store));
  let storeUp = true;

  collector.onApplied((entry) => {
    const protocol = protocolOfInput(entry.input);
    lag.note(entry.position);
    if (protocol === null) return;
    rate.add(entry.applied.accepted);
    count(counts, protocol, entry, metrics);
  });
  const look = async () => {
    // Set before the store is asked, because the store may hang.
    lag.note(collector.sequencer.position.durable);
    setGauges(options, lag);
    storeUp = await collector.store.ping();
    push(history.events, rate.perSecond());
    push(history.lagMs, lag.lagMs(collector.writer.stored));
    push(history.waiting, collector.writer.pendingBytes);
    looks++;
    if (storeUp && looks % looksPerCount === 0) {
      const events = await missing.refresh();
      for (const protocol of protocolsWith("workers")) metrics.gaps.set({ protocol }, events);
    }
    // An unused bucket shows nothing about its state.
    if (looks % looksPerCount === 0 && collector.blobs.kind === "s3")
      void collector.blobs.size(probeKey).catch(() => undefined);
    await collector.journal.probe();
    tell(problems());
  };
  let looks = -1;
  const tell = createTeller(options.log);
  const looking = setInterval(() => void look(), stepMs).unref();

  const problems = () => findProblems(collector, storeUp, lag.lagMs(collector.writer.stored));

  return {
    problems,
    close: () => clearInterval(looking),
    async answer() {
      const doors = options.doors();
      const events = await missing.refresh();
      const journal = collector.journal.state();
      const found = [...problems(), ...options.degraded()];
      return {
        ok: found.length === 0,
        problems: found,
        version,
        started_ns: String(startedNs),
        protocols: [...counts].map(([protocol, one]) => toProtocolHealth(protocol, one, doors, events)),
        history: {
          events_per_s: [...history.events],
          lag_ms: [...history.lagMs],
          waiting_bytes: [...history.waiting],
        },
        journal: {
          segments: journal.segments,
          bytes: String(journal.bytes),
          budget_bytes: String(journal.budgetBytes),
          waiting_events: Math.max(0, collector.sequencer.position.durable - collector.writer.stored),
          lag_ms: lag.lagMs(collector.writer.stored),
          last_sync_ms: Math.round(journal.lastFsyncMs * 100) / 100,
          skipped_records: journal.corruptRecords,
        },
        store: await toStoreHealth(collector, times),
        connections: (doors?.list() ?? []).slice(0, connectionsMax).map(toConnection),
        memory_bytes: process.memoryUsage.rss(),
        subscribers: collector.hub.subscriberCount,
        as_of: collector.hub.idOf(collector.writer.stored),
      };
    },
  };
}

/** Logs when problems begin and when they end, not in between. */
function createTeller(log: Log): (problems: readonly string[]) => void {
  let wasWell = true;
  return (problems) => {
    const isWell = problems.length === 0;
    if (wasWell && !isWell) log.warn({ problems }, "not ready");
    if (!wasWell && isWell) log.info("ready again");
    wasWell = isWell;
  };
}

function findProblems({ journal, writer }: Collector, storeUp: boolean, lagMs: number): string[] {
  const { isFull, outage } = journal.state();
  return [
    ...(storeUp ? [] : ["The store does not answer; what is accepted waits in the journal."]),
    ...(isFull ? ["The journal's budget is spent; requests get 429 until the store catches up."] : []),
    ...(outage === null ? [] : [journalProblems[outage]]),
    ...(writer.isDiskFull && outage !== "disk_full" ? [storeFull] : []),
    ...(writer.trouble === null
      ? []
      : ["The store refuses a block, which the log names; what is accepted waits in the journal."]),
    ...(lagMs > lagProblemMs ? [`The store is ${Math.round(lagMs / 1000)} s behind.`] : []),
  ];
}

const storeFull = "The store's disk is full; what is accepted waits in the journal until there is room.";

/** Reported until the next append is durable. */
const journalProblems: Readonly<Record<DiskOutageKind, string>> = {
  disk_full: "The disk of the data folder is full; requests get 429 until there is room.",
  disk_failed: "The journal cannot be written, so nothing is accepted; the log names the file and the reason.",
  closed: "The journal is closed.",
  other_version: "The journal was written by another version.",
};

/** The most connections that are listed. */
const connectionsMax = 1000;

function toConnection(info: ConnectionInfo): HealthAnswer["connections"][number] {
  return {
    id: String(info.id),
    transport: info.transport,
    peer: info.peer,
    run: info.runId,
    worker: info.wid,
    since_ns: (BigInt(info.sinceUs) * 1000n).toString(),
    events: info.frames,
    bytes: info.bytes,
    accepts_commands: info.takesCommands,
  };
}

async function toStoreHealth({ store }: Collector, times: StoreTimes) {
  const stats = await store.stats().catch(() => null);
  const inserts = times.percentiles("insert");
  const queries = times.percentiles("query");
  return {
    engine: store.kind === "embedded" ? "chDB, embedded" : "ClickHouse server",
    up: stats !== null,
    restarts: store.restarts,
    rows: String(stats?.tables.reduce((sum, { rows }) => sum + rows, 0) ?? 0),
    bytes: String(stats?.tables.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0),
    insert_p50_ms: inserts.p50,
    insert_p95_ms: inserts.p95,
    query_p50_ms: queries.p50,
    query_p95_ms: queries.p95,
  };
}

function push(list: number[], value: number): void {
  list.push(value);
  if (list.length > historyMax) list.shift();
}

function count(counts: Map<string, ProtocolCounts>, protocol: string, entry: AppliedInput, metrics: Metrics): void {
  const one = counts.get(protocol) ?? { accepted: 0, duplicates: 0, faults: 0, rate: new EventRate() };
  counts.set(protocol, one);
  const { accepted, duplicates, faults } = entry.applied;
  one.accepted += accepted;
  one.duplicates += duplicates;
  one.faults += faults.length;
  one.rate.add(accepted);
  if (accepted > 0) metrics.accepted.inc({ protocol }, accepted);
  if (duplicates > 0) metrics.duplicates.inc({ protocol }, duplicates);
  for (const { code } of faults) metrics.faults.inc({ protocol, code });
}

function toProtocolHealth(protocol: string, one: ProtocolCounts, doors: XtrackDoors | null, missing: number) {
  const { unauthorized, overLimit } = doors?.connections ?? { unauthorized: 0, overLimit: 0 };
  const refused = protocol === doors?.protocol ? unauthorized + overLimit : 0;
  const { accepted, duplicates, faults, rate } = one;
  return {
    protocol,
    accepted,
    refused,
    duplicates,
    faults,
    missing: hasTrait(protocol, "workers") ? missing : 0,
    events_per_s: rate.perSecond(),
  };
}

function setGauges({ collector, metrics, doors }: HealthOptions, lag: LagWatch): void {
  metrics.journalBytes.set(collector.journal.state().bytes);
  metrics.journalLagSeconds.set(lag.lagMs(collector.writer.stored) / 1000);
  metrics.waitingBytes.set(collector.writer.pendingBytes);
  const sockets = doors();
  if (sockets !== null) metrics.connections.set({ transport: sockets.protocol }, sockets.connections.open);
}
