// How a collector starts work once its parts are assembled: it sends what the last process left open, applies the rest of
// the journal, and reads an outline of the store in the background.

import { setTimeout as sleep } from "node:timers/promises";
import type { Sequencer } from "#intake/sequencer.ts";
import type { SetAside } from "#intake/set-aside.ts";
import { readJoins } from "#store/reader/joins.ts";
import { readNewestVersion, readRunNames } from "#store/reader/restore.ts";
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

/** Once the store has answered: what was left open, then the rest of the journal, then new records. */
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
  await writer.sendLeft(left.plans);
  steps.end("outbox");
  // Only now does the store have everything that is not read from records again: joins, versions, and orders to delete.
  // On a shared store such an order continues by itself.
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
  // The store has all records up to here and none after, apart from some blocks of a plan that was lost. If others write too,
  // it is asked about each record.
  const warm = (): Promise<void> => warmState(collector, left.isDamaged ? left.position : null);
  const warming = store.kind === "embedded" && !isFresh ? warm() : null;
  warming?.catch(onCold);
  const records = sequencer.position.durable - sequencer.position.applied;
  const waitMs = Math.min(warmWaitMsMax, records * askMs);
  if (warming !== null && waitMs > 0)
    await Promise.race([warming.catch(() => undefined), sleep(waitMs, undefined, { ref: false })]);
  // What was accepted meanwhile has waited for all this too.
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
 * The rest of the journal is applied with an outline of the store, or the store would be asked about each record. The outline is
 * not waited for longer than asking takes. It may have what is being deleted: that only costs a question.
 */
const warmWaitMsMax = 2000;
/** To ask the store about one record, about. */
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

/** Goes on while the collector works. The names of runs that are being deleted are read no more: they may come again as new ones. */
async function warmUp({ store, hub }: Collector, warming: Promise<unknown>): Promise<void> {
  await warming;
  for await (const { name } of readRunNames(store)) hub.know(name);
  hub.warm();
}

// What a start spent its time on, for whoever finds one slow.

export class StartSteps {
  private sinceMs = performance.now();
  private readonly perStep: Record<string, number> = {};

  /** What was done since the last step ended. */
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
