// For tests: everything between an XTrack connection and the writer, put together as a collector does it, with the
// applied rows kept in memory instead of a store.

import { defaultJsonLimits } from "#base/json/value.ts";
import { type CommandStep, fromCommandRow, toStateChange } from "#control/command.ts";
import { Control } from "#control/control.ts";
import type { Applied } from "#intake/applied.ts";
import { ProtocolApplier } from "#intake/applier.ts";
import { toChangeInput } from "#intake/changes.ts";
import { decodeInput, type Input } from "#intake/input.ts";
import type { IntakeStore } from "#intake/intake-store.ts";
import { Sequencer } from "#intake/sequencer.ts";
import { frameInputs } from "#intake/xtrack/frames-input.ts";
import { toGroupKey } from "#intake/xtrack/group-keys.ts";
import { createJournal, type Journal, type JournalOptions } from "#journal/journal.ts";
import type { StateRow } from "#model/state-tables.ts";
import type { Rows } from "#model/tables.ts";
import { inputKinds } from "#protocol/protocols.ts";
import { UnfinishedBytes } from "#server/unfinished-bytes.ts";

import { readSegments } from "#wire/xtrack/segments.ts";

import { type ConnectionCounters, type ConnectionPorts, createConnectionCounters } from "./connection.ts";
import { IntakeSink } from "./intake-sink.ts";

import { toWorkerNews } from "./news.ts";
import { outgoingLimitsDefault } from "./outgoing.ts";
import type { StreamOrigin } from "./ports.ts";
import { createSocketServer, type SocketServer } from "./sockets.ts";

export interface SmallCollector {
  readonly journal: Journal;
  readonly control: Control;
  readonly sink: ConnectionPorts["sink"];
  readonly intake: IntakeSink;
  readonly counters: ConnectionCounters;
  /** What was applied, in order. */
  readonly applied: Applied[];
  readonly origins: StreamOrigin[];
  /** How each stream ended, in order. */
  readonly endings: string[];
  /** While set, the journal says that it has no room. */
  isFull: boolean;
  /** The JSON of every frame in the journal. */
  stored(): Promise<StoredEvent[]>;
  close(): Promise<void>;
}

export interface StoredEvent {
  readonly t: string;
  readonly m: { readonly seq: number; readonly ts: number; readonly wid?: string };
  readonly p: { readonly [field: string]: unknown };
}

export interface SmallCollectorOptions {
  readonly dir: string;
  readonly heldBytesMax?: number;
  readonly gatheredBytesMax?: number;
  readonly journal?: Pick<JournalOptions, "segmentBytesMax" | "budgetBytes" | "waitingBytesMax">;
}

/** The store is fresh, and nothing is dropped, so it is never asked. */
function createApplier(): ProtocolApplier {
  return new ProtocolApplier({
    kinds: inputKinds,
    decodeLimits: { json: defaultJsonLimits, lineBytesMax: 1024 * 1024 },
    store: {} as IntakeStore,
    sessionGapNs: 0n,
    isFresh: true,
  });
}

const nowNs = () => BigInt(Date.now()) * 1_000_000n;
const room = { add: () => undefined, hasRoom: () => true, room: () => Promise.resolve() };

export async function openSmallCollector(options: SmallCollectorOptions): Promise<SmallCollector> {
  const journal = await createJournal({ dir: options.dir, ...options.journal });
  const applier = createApplier();
  const runOf = (groupKey: string) => applier.state.runOf(groupKey);
  const applied: Applied[] = [];
  const control = new Control({
    nowNs,
    createId: () => crypto.randomUUID(),
    onTrouble: () => undefined,
    async record(steps) {
      const changes = steps.map((step) => toStateChange(step, nowNs()));
      const submitted = sequencer.submit(toChangeInput(changes, "default", ""));
      if (typeof submitted === "string") throw new Error(submitted);
      await submitted.applied;
    },
  });
  const onApplied = ({ input, applied: entry }: { input: Input; applied: Applied }) => {
    applied.push(entry);
    for (const news of toWorkerNews(entry.parts, input.workspace, runOf)) control.observe(news);
    control.fold(toSteps(entry));
  };
  const onFatal = (cause: unknown) => Promise.reject(cause);
  const hooks = { onApplied, onFatal, onFailed: ({ cause }: { cause: unknown }) => Promise.reject(cause) };
  const start = { applied: 0, durable: journal.state().nextPosition - 1 };
  const sequencer = new Sequencer(journal, room, applier, start, hooks);
  await sequencer.recover();
  control.ready();
  const intake = new IntakeSink({
    submit: (input, decoded) => (collector.isFull ? "disk_full" : sequencer.submit(input, decoded)),
    hasRoom: (bytes) => journal.roomFor(bytes, false) === null,
    nowNs,
    runOf: (workspace, runId) => runOf(toGroupKey(workspace, runId)) ?? runId,
    isFollowed: () => false,
    unfinished: new UnfinishedBytes(256 * 1024 * 1024),
    frameBytesMax: 64 * 1024 * 1024,
    gatheredBytesMax: options.gatheredBytesMax ?? 64 * 1024 * 1024,
    heldBytesMax: options.heldBytesMax ?? 1024 * 1024,
  });
  const notes = { origins: [] as StreamOrigin[], endings: [] as string[] };
  const collector: SmallCollector = {
    journal,
    control,
    sink: watch(intake, notes),
    intake,
    counters: createConnectionCounters(),
    applied,
    ...notes,
    isFull: false,
    stored: () => readFrames(journal),
    async close() {
      intake.close();
      control.close();
      await journal.close();
    },
  };
  return collector;
}

function toSteps({ state }: Applied): CommandStep[] {
  return state.flatMap(({ table, row }) => {
    const step = table === "commands" ? fromCommandRow(row as StateRow<"commands">) : null;
    return step === null ? [] : [step];
  });
}

function watch(
  sink: IntakeSink,
  { origins, endings }: { origins: StreamOrigin[]; endings: string[] },
): ConnectionPorts["sink"] {
  return {
    isCrowded: () => sink.isCrowded(),
    openStream(origin, events) {
      origins.push(origin);
      const stream = sink.openStream(origin, events);
      const end = stream.end.bind(stream);
      stream.end = async (how) => {
        await end(how);
        endings.push(how);
      };
      return stream;
    },
  };
}

async function readFrames(journal: Journal): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const { payload } of journal.replay(1)) {
    const input = decodeInput(payload);
    if (input?.kind === frameInputs.kind) for (const event of readBody(input)) events.push(event);
  }
  return events;
}

function readBody({ body }: Input): StoredEvent[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const events: StoredEvent[] = [];
  readSegments(bytes, 0, {
    frame(start, end) {
      events.push(JSON.parse(bytes.toString("utf8", start, end)));
    },
    // A note is not a frame; the tests that meet one look at the faults it became.
    note: () => undefined,
    switch: () => undefined,
  });
  return events;
}

/** The rows of one table that were kept, as objects. */
export function rowsOf(
  applied: readonly Applied[],
  table: "events" | "metrics" | "params" | "logs" | "faults" | "seq_ranges",
) {
  const found: Record<string, unknown>[] = [];
  for (const { parts } of applied) {
    for (const part of parts) {
      if (part.table !== table) continue;
      const rows = part.rows as unknown as Rows<"events">;
      for (let row = 0; row < rows.group_key.length; row++)
        if (part.dropped?.[row] !== 1) found.push(toObject(rows as unknown as Record<string, Readable>, row));
    }
  }
  return found;
}

type Readable = { at(row: number): unknown } | { isNull(row: number): boolean; inner: { at(row: number): unknown } };

function toObject(rows: Record<string, Readable>, row: number): Record<string, unknown> {
  const cells = Object.entries(rows).map(([name, column]) => {
    if ("isNull" in column) return [name, column.isNull(row) ? null : column.inner.at(row)];
    return [name, column.at(row)];
  });
  return Object.fromEntries(cells);
}

/** Listens on a free port for anyone, with the collector's own desk. */
export function listenFor(collector: SmallCollector): Promise<SocketServer> {
  return createSocketServer({
    listen: { host: "127.0.0.1", port: 0 },
    connectionsMax: 100,
    rules: { acks: "asked", firstFrameTimeoutMs: 5000, pendingBytesMax: 1024 * 1024, outgoing: outgoingLimitsDefault },
    counters: collector.counters,
    ports: {
      sink: collector.sink,
      gate: { admit: () => ({ workspace: "default", source: "local" }) },
      desk: collector.control,
      nowUs: () => Date.now() * 1000,
    },
  });
}
