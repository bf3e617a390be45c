// How a collector starts work once its parts are assembled: it sends what the last process left open, applies the rest of
// the journal, and reads an outline of the store in the background.

import { setTimeout as sleep } from "node:timers/promises";
import type { Sequencer } from "#intake/sequencer.ts";
import type { SetAside } from "#intake/set-aside.ts";
import { readJoins } from "#store/reader/joins.ts";
import { readNewestVersion, readRunNames } from "#store/reader/restore.ts";
import { removeSecondCopies } from "#store/remove-second-copies.ts";
import type { Plan } from "#store/writer/plan.ts";
import { noteResent } from "#store/writers.ts";
import type { Collector, CollectorOptions } from "./collector.ts";
import { resumeDeletions } from "./deletion.ts";
import { untilDone } from "./intake-store.ts";
import { noOutline, readOutline } from "./outline.ts";
import type { StoreMeeting } from "./store-meeting.ts";
import { submitOwn } from "./submit.ts";

interface Beginning {
  readonly met: StoreMeeting;
  /** What the last process left in the outbox. */
  readonly left: { readonly position: number; readonly plans: readonly Plan[]; readonly isDamaged: boolean };
  readonly steps: StartSteps;
  isClosing(): boolean;
  /** The store has answered, and what the journal held is applied. */
  onJoined(): void;
}

/**
 * Waits for the store, sends the open plans and applies the rest of the journal. New records are applied after that.
 */
export async function begin(
  collector: Collector,
  { met, left, steps, isClosing, onJoined }: Beginning,
  { onStarted }: Pick<CollectorOptions, "onStarted">,
): Promise<void> {
  const { id, store, applier, writer, sequencer, setAside, damage, versions } = collector;
  setAside.beginReplay();
  const isFresh = isNothingStored((await met.later) ?? met, left);
  const again = left.plans.flatMap(({ blocks }) => blocks);
  await untilDone(() => noteResent(store, id, again));
  await writer.sendLeft(left.plans, (plan) => untilDone(() => removeSecondCopies(store, plan)));
  steps.end("outbox");
  // Only now does the store have everything that is not read from records again: joins, versions and deletions. On a
  // shared store `SharedDeletions` resumes deletions.
  const [joins, newest] = await Promise.all([
    untilDone(() => readJoins(store)),
    untilDone(() => readNewestVersion(store)),
  ]);
  applier.state.joins.replace(joins);
  versions.note(newest);
  const { gone } =
    store.kind === "embedded" ? await resumeDeletions(collector, isClosing) : { gone: Promise.resolve() };
  steps.end("joins");
  const onCold = (cause: unknown): void => {
    if (!isClosing()) collector.tell(noOutline, cause);
  };
  // An embedded store has every record up to `left.position` and none after it, apart from some blocks of a damaged
  // plan. A store that others write to has no such border, so it is asked about each record.
  const warm = (): Promise<void> => warmState(collector, left.isDamaged ? left.position : null);
  const warming = store.kind === "embedded" && !isFresh ? warm() : null;
  warming?.catch(onCold);
  const records = sequencer.position.durable - sequencer.position.applied;
  const waitMs = Math.min(warmWaitMsMax, records * askMs);
  if (warming !== null && waitMs > 0)
    await Promise.race([warming.catch(() => undefined), sleep(waitMs, undefined, { ref: false })]);
  // Records that were accepted meanwhile have waited for all this.
  writer.open();
  steps.end("outline");
  await recover(sequencer, setAside);
  steps.end("records");
  onStarted?.({ records, plans: left.plans.length, ...steps.all }, steps.tookMs);
  for (const sentence of [...damage.remarks(), ...damage.sentences()]) collector.tell(sentence, undefined);
  onJoined();
  if (!isFresh) warmUp(collector, Promise.all([warming ?? warm(), gone])).catch(onCold);
}

/** Whether the store is empty when the first record is applied; left-over plans are in it by then. */
export function isNothingStored(
  { isFresh }: Pick<StoreMeeting, "isFresh">,
  { plans, isDamaged }: Pick<Beginning["left"], "plans" | "isDamaged">,
): boolean {
  return isFresh && plans.length === 0 && !isDamaged;
}

/**
 * With an outline of the store, the rest of the journal is applied without a question about each record. A start does
 * not wait for the outline for longer than these questions would take. The outline may contain groups that are being
 * deleted, which only costs a question.
 */
const warmWaitMsMax = 2000;
/** Roughly what a question about one record takes. */
const askMs = 10;

async function recover(sequencer: Sequencer, setAside: SetAside): Promise<void> {
  await sequencer.recover();
  setAside.endReplay();
  await setAside.retry((input) => submitOwn(sequencer, input).durable);
}

async function warmState({ store, applier }: Collector, wholeTo: number | null): Promise<void> {
  const { state } = applier;
  state.warm(await readOutline(store, wholeTo));
}

/**
 * Runs in the background. The names of deleted runs are not read, because `gone` comes first: a run of that name would
 * be a new one.
 */
async function warmUp({ store, hub }: Collector, warming: Promise<unknown>): Promise<void> {
  await warming;
  for await (const { name } of readRunNames(store)) hub.know(name);
  hub.warm();
}

// How long each step of a start took, for whoever finds a start slow.

export class StartSteps {
  private sinceMs = performance.now();
  private readonly perStep: Record<string, number> = {};

  /** Ends a step that began when the last one ended. */
  end(name: string): void {
    const nowMs = performance.now();
    this.perStep[`${name}_ms`] = Math.round(nowMs - this.sinceMs);
    this.sinceMs = nowMs;
  }

  get all(): Readonly<Record<string, number>> {
    return this.perStep;
  }

  get tookMs(): number {
    return Object.values(this.perStep).reduce((sum, ms) => sum + ms, 0);
  }
}
