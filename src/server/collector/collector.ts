// One collector: the journal, the state, the writer and the store of a data folder. They are opened in an order that
// loses nothing: first the lock and the store, then open plans, then the state, then the rest of the journal. Only then
// does anything listen, unless a start has waited too long for a remote store.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { nodeFiles } from "#base/files.ts";
import { keepAlive } from "#base/keep-alive.ts";
import { type Strain, shareMemory } from "#config/memory-shares.ts";
import type { Config } from "#config/settings.ts";
import { ProtocolApplier } from "#intake/applier.ts";
import { deletedBy, toChangeInput } from "#intake/changes.ts";
import type { AppliedInput } from "#intake/gathering.ts";
import type { Input } from "#intake/input.ts";
import { type Decoded, warmKinds } from "#intake/input-kind.ts";
import { defaultIntakeLimits, type IntakeLimits } from "#intake/intake-state.ts";
import { type Receipt, Sequencer, type Submitted } from "#intake/sequencer.ts";
import { SetAside } from "#intake/set-aside.ts";
import { createJournal, type Journal } from "#journal/journal.ts";
import { readFirstPosition } from "#journal/segment.ts";
import { LiveHub } from "#live/hub.ts";
import type { Batch } from "#model/batch.ts";
import type { StateChange } from "#model/state-tables.ts";
import { inputKinds, protocolOfInput } from "#protocol/protocols.ts";
import { openBlobs } from "#server/app/backends.ts";
import { toDecodeLimits } from "#server/decode-limits.ts";
import type { StoreAddress } from "#store/address.ts";
import type { BlobStore } from "#store/blobs/blob-store.ts";
import { createStore } from "#store/client.ts";
import { isDiskFull, isRetryable } from "#store/outage.ts";
import type { Store } from "#store/store.ts";
import { createBlockMaker } from "#store/writer/blocks.ts";
import { readOpenPlans } from "#store/writer/open-plans.ts";
import { createOutbox } from "#store/writer/outbox.ts";
import { StoreWriter, type WriterOptions } from "#store/writer/writer.ts";
import { noteResent } from "#store/writers.ts";
import { begin, isNothingStored, StartSteps } from "./begin.ts";
import { carryOut } from "./deletion.ts";
import { lockFolder } from "./folder-lock.ts";
import type { ProgressNotes } from "./identity.ts";
import { createIntakeStore, untilDone } from "./intake-store.ts";
import { JournalDamage } from "./journal-damage.ts";
import { type ByKey, keepByKey } from "./keep-by-key.ts";
import { createLeaver, createMender } from "./mend.ts";
import { Removals } from "./removals.ts";
import { RowsInUse } from "./rows-in-use.ts";
import { StateVersions } from "./state-versions.ts";
import { createEndless, createPatience, meetStore, none, type Patience } from "./store-meeting.ts";
import { noteStoredVersions } from "./stored-versions.ts";
import { submitChange, submitOwn } from "./submit.ts";
import { UnstoredState } from "./unstored-state.ts";
import { letGo, watchForQuiet } from "./watch-for-quiet.ts";

export interface CollectorOptions {
  readonly config: Config;
  readonly store: StoreAddress;
  /** Wraps the store before it is used, to time its calls. */
  readonly wrapStore?: (store: Store) => Store;
  /** How near the process is to its memory budget. */
  strain?(): Strain;
  /** What intake may keep in memory; tests set it to prove that forgetting is invisible. */
  readonly intakeLimits?: IntakeLimits;
  /** Called for every input after it was applied, in order, including those of a recovery. */
  readonly listeners?: readonly ((applied: AppliedInput) => void)[];
  onTrouble(message: string, cause: unknown): void;
  /**
   * Called once the rest of the journal is applied, with the number of records and plans, the time of each step and the
   * total time.
   */
  onStarted?(steps: Readonly<Record<string, number>>, tookMs: number): void;
  /** The process cannot go on: it should exit and be restarted. */
  onFatal(cause: unknown): void;
}

/**
 * How long the first row of a plan waits for others: well below the second within which rows must be queryable. Each
 * table of a plan costs the engine a fixed amount of work, so a few large plans are cheaper than many small ones. Live
 * subscribers get rows earlier, and a caller that waits for its rows hurries the plan.
 */
const lingerMs = 200;
const steadyLingerMs = 600;
const mebibyte = 1024 * 1024;
/** At full speed: a plan of `planBytesEnough` does not wait for more rows. */
const planBytes = { planBytesEnough: 48 * mebibyte, planBytesMax: 96 * mebibyte };
/** Of the rows that may wait for the store, how many may wait while memory is short. */
const pendingShares: Record<Strain, number> = { none: 1, tight: 1 / 2, full: 1 / 4 };
/** How long a start waits for a remote store, in total. */
const storeWaitMs = 10_000;
type StoredListener = (to: number, batches: readonly Batch[]) => void;

export interface Collector {
  readonly id: string;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly journal: Journal;
  readonly writer: StoreWriter;
  readonly sequencer: Sequencer;
  readonly applier: ProtocolApplier;
  readonly hub: LiveHub;
  /** Accepted records that could not be applied. */
  readonly setAside: SetAside;
  /** Accepted records that the journal no longer has. */
  readonly damage: JournalDamage;
  readonly versions: StateVersions;
  readonly removals: Removals;
  readonly unstored: UnstoredState;
  readonly byKey: ByKey;
  /** How near the process is to its memory budget. */
  strain(): Strain;
  /** Reports a failure that stops nothing else. */
  tell(message: string, cause: unknown): void;
  /** Called for every input after it was applied, in order. */
  onApplied(listener: (applied: AppliedInput) => void): void;
  /** Called with the last journal record that is stored, and with the batches stored since the last call. */
  onStored(listener: StoredListener): void;
  /** As the sequencer's. */
  submit(input: Input, decoded?: Decoded | null, onLetGo?: () => void): Submitted;
  /** Makes changes of the small tables durable and applies them. */
  change(changes: readonly StateChange[], workspace: string, author: string): Promise<Receipt>;
  /** Retries records that were set aside, all of them or these; returns how many. */
  retryAside(positions: readonly number[] | null): Promise<number>;
  /** Resolves when everything up to a journal position can be queried. */
  queryable(position: number): Promise<void>;
  /**
   * Runs a task that reads from the store what a part of the server needs at its start. Resolves when the task is done,
   * or when the start has waited long enough for a store that does not answer; the task is then done as soon as it
   * does.
   */
  onceJoined(task: () => Promise<void>): Promise<void>;
  /** Resolves when everything that was accepted so far is stored. */
  drained(): Promise<void>;
  close(deadlineMs: number): Promise<void>;
}

export function openCollector(options: CollectorOptions): Promise<Collector> {
  return keepAlive(openFolder(options));
}

async function openFolder(options: CollectorOptions): Promise<Collector> {
  const steps = new StartSteps();
  const { dataDir } = options.config;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = options.store.kind === "embedded" ? null : await lockFolder(dataDir);
  // There is nothing else to do while the engine starts.
  void warmKinds(inputKinds);
  const created = await createStore(options.store);
  const store = options.wrapStore?.(created) ?? created;
  const close = async (): Promise<void> => {
    await store.close();
    lock?.release();
  };
  try {
    steps.end("engine");
    return await openWithStore(options, store, steps, close);
  } catch (cause) {
    await close();
    throw cause;
  }
}

async function openWithStore(
  options: CollectorOptions,
  store: Store,
  steps: StartSteps,
  closeStore: () => Promise<void>,
): Promise<Collector> {
  const { onTrouble: tell, config } = options;
  const { dataDir, memoryBudgetBytes } = config;
  const outbox = await createOutbox(join(dataDir, "outbox"));
  const { patience, onTrouble } = prepareToWait(options, store);
  const journalDir = join(dataDir, "journal");
  const left = await readOpenPlans(outbox, () => readFirstPosition(nodeFiles, journalDir));
  const { position: storedTo } = left;
  const journal = await openJournal(config, journalDir, storedTo + 1);
  const damage = new JournalDamage(journal, storedTo);
  const durable = journal.state().nextPosition - 1;
  let closing = false;
  const isClosing = () => closing;
  const met = await meetStore(store, { dataDir, position: durable }, patience, { onTrouble: tell, isClosing });
  const isFresh = isNothingStored(met, left);
  steps.end("schema");
  const { id, epoch } = met.notes.identity;
  const applier = createApplier(options, store, id, isFresh);
  const blobs = await openBlobs(config);
  const unstored = new UnstoredState();
  const byKey = keepByKey(store, tell);
  const storedListeners: StoredListener[] = [];
  const onStored: StoredListener = (to, batches) => {
    for (const each of [met.notes, unstored, byKey]) each.stored(to);
    for (const listener of storedListeners) listener(to, batches);
    letGo({ hub, rowsInUse, applier }, to, sequencer.position.applied, strainOf(options));
  };
  const rowsInUse = new RowsInUse(storedTo);
  const setAside = new SetAside(dataDir, { files: nodeFiles, protocolOf: protocolOfInput, onTrouble: tell });
  const onUnstorable = createLeaver({ journal, setAside, applier });
  const onLateRetry: WriterOptions["onLateRetry"] = (block) => noteResent(store, id, [block]);
  const writer = new StoreWriter(
    outbox,
    store,
    createBlockMaker(id),
    writerOptions(options, `${id}-${epoch}`, journal, { onTrouble, onLateRetry, onStored, onUnstorable }),
    storedTo,
  );
  const hub = new LiveHub(id, storedTo, isFresh, shareMemory(memoryBudgetBytes).liveBytes);
  const listeners = [(entry: AppliedInput) => unstored.note(entry), ...(options.listeners ?? [])];
  // Whatever closing the store interrupts is in the journal, and the next start resumes it.
  const onFatal = (cause: unknown): void => {
    if (!closing) options.onFatal(cause);
  };
  const versions = new StateVersions();
  const removals = new Removals();
  const onApplied = (entry: AppliedInput): void => {
    const { position, input, batch } = entry;
    for (const { row } of entry.applied.state) versions.note(row.version);
    rowsInUse.add(batch);
    hub.publish({ position, workspace: input.workspace, batch, runOf: (key) => applier.state.joinedRunOf(key) });
    for (const listener of listeners) attemptListener(listener, entry, options);
    rowsInUse.forgotten(hub.keptFrom - 1);
    // A deletion that was set aside hides nothing.
    const deleted = entry.applied.faults.length === 0 ? deletedBy(input) : null;
    if (deleted !== null) carryOut(collector, { runs: deleted, workspace: input.workspace }, position, isClosing);
  };
  const start = { applied: Math.max(storedTo, journal.state().firstPosition - 1), durable };
  const applied = (): number => sequencer.position.applied;
  const onFailed = createMender({ store, applier, writer, setAside, applied, isClosing, onTrouble: tell });
  const hooks = { onApplied, onFailed, onFatal };
  const sequencer = new Sequencer(setAside.log(journal), writer, setAside.applier(applier), start, hooks);
  const joined = Promise.withResolvers<void>();
  const quiet = watchForQuiet({ applied, applier, writer, hub, rowsInUse });
  const onClose = (): void => {
    closing = true;
    clearInterval(quiet);
    byKey.close();
  };
  const collector = assemble({
    ...{ id, store, blobs, journal, writer, sequencer, applier, hub, setAside, damage, versions, removals, unstored },
    ...{ listeners, storedListeners, byKey, notes: met.notes, rowsInUse, onClose, closeStore, tell },
    ...{ joined: joined.promise, patience: met.later === null ? patience : none, strain: () => strainOf(options) },
  });
  const begun = begin(collector, { met, left, steps, isClosing, onJoined: () => joined.resolve() }, options);
  if (met.later !== null || (await patience.within(begun)) === "late") begun.catch(onFatal);
  return collector;
}

function openJournal(config: Config, dir: string, positionMin: number): Promise<Journal> {
  const { journalBudgetBytes: budgetBytes, journalSegmentBytes: segmentBytesMax } = config;
  return createJournal({ dir, budgetBytes, segmentBytesMax, positionMin });
}

/** The record is applied: a listener that fails must not stop the records behind it. */
function attemptListener(
  listener: (applied: AppliedInput) => void,
  entry: AppliedInput,
  { onTrouble }: Pick<CollectorOptions, "onTrouble">,
): void {
  try {
    listener(entry);
  } catch (cause) {
    onTrouble(`A listener failed at record ${entry.position} of the journal.`, cause);
  }
}

/** An outage of an hour makes a dozen log lines, not thousands. */
function tellTrouble(options: CollectorOptions, error: unknown, attempt: number): void {
  if (!Number.isInteger(Math.log2(attempt))) return;
  const why = isDiskFull(error) ? ", because its disk is full" : "";
  options.onTrouble(`The store did not take a block${why} (attempt ${attempt}); it is sent again.`, error);
}

/**
 * A start does not wait for a full disk: nobody knows how long that takes, and what is stored can be shown meanwhile.
 */
function prepareToWait(options: CollectorOptions, { kind }: Store) {
  const endless = createEndless();
  return {
    patience: kind === "embedded" ? endless : createPatience(storeWaitMs),
    onTrouble(error: unknown, attempt: number) {
      tellTrouble(options, error, attempt);
      if (isDiskFull(error)) endless.giveUp();
    },
  };
}

function createApplier(
  { config, intakeLimits }: CollectorOptions,
  store: Store,
  id: string,
  isFresh: boolean,
): ProtocolApplier {
  const groupBytesMax = shareMemory(config.memoryBudgetBytes).groupsBytes;
  const limits = intakeLimits ?? { ...defaultIntakeLimits, groupBytesMax };
  return new ProtocolApplier({
    kinds: inputKinds,
    sessionGapNs: BigInt(config.sessionGapMs) * 1_000_000n,
    decodeLimits: toDecodeLimits(config),
    // The embedded engine belongs to one collector; a server may serve several.
    ...(store.kind === "server" ? { writer: id } : {}),
    store: createIntakeStore(store, limits),
    isFresh,
    limits,
  });
}

function strainOf({ strain }: CollectorOptions): Strain {
  return strain?.() ?? "none";
}

function writerOptions(
  options: CollectorOptions,
  tokenPrefix: string,
  journal: Journal,
  hooks: Pick<WriterOptions, "onTrouble" | "onLateRetry" | "onUnstorable"> & { readonly onStored: StoredListener },
): WriterOptions {
  return {
    ...hooks,
    tokenPrefix,
    lingerMs,
    steadyLingerMs,
    ...planBytes,
    pendingBytesMax: shareMemory(options.config.memoryBudgetBytes).pendingBytes,
    pendingShare: () => pendingShares[strainOf(options)],
    onStored(to: number, batches: readonly Batch[]) {
      hooks.onStored(to, batches);
      journal
        .truncateBefore(to + 1)
        .catch((cause) => options.onTrouble("An old journal segment could not be removed.", cause));
    },
    onStopped(cause: unknown) {
      options.onTrouble("No plan could be made for the store; accepted data waits in the journal.", cause);
    },
  };
}

type Parts = Omit<
  Collector,
  "onApplied" | "onStored" | "onceJoined" | "submit" | "change" | "retryAside" | "queryable" | "drained" | "close"
> & {
  readonly listeners: ((applied: AppliedInput) => void)[];
  readonly storedListeners: StoredListener[];
  readonly notes: ProgressNotes;
  /** Settles when the store has answered and the journal is applied. */
  readonly joined: Promise<void>;
  readonly patience: Patience;
  closeStore(): Promise<void>;
  readonly rowsInUse: RowsInUse;
  onClose(): void;
};

function assemble(parts: Parts): Collector {
  const { sequencer, writer, journal, listeners } = parts;
  const submit: Collector["submit"] = (...given) => sequencer.submit(...given);
  const drained = async (): Promise<void> => {
    await sequencer.drained();
    await writer.storedUpTo(sequencer.position.applied);
  };
  return {
    ...parts,
    submit,
    drained,
    onApplied: (listener) => listeners.push(listener),
    onStored: (listener) => parts.storedListeners.push(listener),
    async change(changes, workspace, author) {
      await noteStoredVersions(parts, changes);
      return submitChange(sequencer, toChangeInput(parts.versions.toLater(changes), workspace, author));
    },
    retryAside: (positions) => parts.setAside.retryNow(positions, (input) => submitOwn(sequencer, input).durable),
    async onceJoined(task) {
      const first = parts.joined.then(() => isDoneAtOnce(task));
      const isDone = await parts.patience.within(first);
      if (isDone === true) return;
      const retold = (cause: unknown): void => parts.tell("Something could not be read from the store.", cause);
      first.then((isDoneLate) => (isDoneLate ? undefined : untilDone(task))).catch(retold);
    },
    async queryable(position) {
      await writer.storedUpTo(position);
    },
    async close(deadlineMs) {
      parts.onClose();
      await writer.close(deadlineMs);
      parts.rowsInUse.close();
      await parts.notes.close();
      await journal.close();
      await parts.closeStore();
      await parts.blobs.close();
    },
  };
}

/** False if the store went away: once it has answered a start, that start does not fail. */
async function isDoneAtOnce(task: () => Promise<void>): Promise<boolean> {
  try {
    await task();
    return true;
  } catch (cause) {
    if (!isRetryable(cause)) throw cause;
    return false;
  }
}
