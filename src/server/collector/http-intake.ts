// Hands the records of requests to the collector, in order.

import { Turn } from "#base/turns.ts";
import type { Control } from "#control/control.ts";
import type { Receipt, Submitted } from "#intake/sequencer.ts";
import type { Fault } from "#model/fault.ts";
import { faultsMax } from "#model/fault-list.ts";
import type { Submission, TakenRequest } from "#protocol/protocol.ts";
import type { Busy, Intake } from "#server/http/ports.ts";
import type { Collector } from "./collector.ts";

/** How long a client is asked to wait when there is no room: time for the store to take a few plans. */
const retryAfterS = { memory_full: 1, disk_full: 5 } as const;

/** Records of one body in flight: enough to share a disk sync, few enough to stop in time. */
const flyingMax = 8;

export function createHttpIntake(collector: Collector, desk: Pick<Control, "hearAck">): Intake {
  return {
    submit: (submissions, answerWhen, onSent) =>
      submitAll(collector, hearAnswers(submissions, desk), answerWhen, onSent),
    queryable: (position) => collector.queryable(position),
    roomFor(bytes, isQuiet) {
      const full = collector.journal.roomFor(bytes, isQuiet);
      return full === null ? null : { busy: true, retryAfterS: retryAfterS[full] };
    },
    backlogBytes: () => collector.sequencer.backlogBytes,
  };
}

/** Who answers a command without saying its run is told apart by the command's id alone. */
function* hearAnswers(submissions: Submissions, desk: Pick<Control, "hearAck">): Generator<Submission | null> {
  for (const submission of submissions) {
    const { input, answers = [] } = submission ?? {};
    if (input?.imported === false) for (const ack of answers) desk.hearAck(input.workspace, ack);
    yield submission;
  }
}

type Submissions = TakenRequest["submissions"];

/** What was taken before room ran out is known when the body is sent again. */
async function submitAll(
  collector: Collector,
  submissions: Submissions,
  answerWhen: "durable" | "applied",
  onSent?: () => void,
): Promise<Receipt | Busy> {
  const total = { position: collector.sequencer.position.durable, accepted: 0, duplicates: 0 };
  const faults: Fault[] = [];
  const flying: Promise<Receipt | Busy>[] = [];
  let busy: Busy | undefined;
  const land = async (): Promise<void> => {
    const receipt = (await flying.shift()) as Receipt | Busy;
    if ("busy" in receipt) {
      busy ??= receipt;
      return;
    }
    total.position = receipt.position;
    total.accepted += receipt.accepted;
    total.duplicates += receipt.duplicates;
    for (const fault of receipt.faults) faults.push(fault);
  };
  let isFirst = true;
  const turn = new Turn();
  for (const submission of submissions) {
    // A body of many records lets others go on between two of them.
    if (submission === null ? turn.isOver : !isFirst) await turn.pass();
    if (submission === null) continue;
    isFirst = false;
    const { input } = submission;
    const share = faults.length === 0 ? {} : { faultsMax: Math.max(0, faultsMax - faults.length) };
    const record = { ...input, ...share };
    const decoding = submission.decoded ?? collector.applier.decodeInTurns(record);
    const decoded = decoding instanceof Promise ? await decoding : decoding;
    const receipt = toReceipt(collector.submit(record, decoded), answerWhen);
    // Whoever waits for it learns of its failure, after those before it.
    receipt.catch(() => undefined);
    flying.push(receipt);
    while (flying.length >= flyingMax) await land();
    if (busy !== undefined) break;
  }
  onSent?.();
  while (flying.length > 0) await land();
  return busy ?? { ...total, faults };
}

async function toReceipt(submitted: Submitted, answerWhen: "durable" | "applied"): Promise<Receipt | Busy> {
  if (typeof submitted === "string") return { busy: true, retryAfterS: retryAfterS[submitted] };
  if (answerWhen === "applied") return submitted.applied;
  submitted.applied.catch(() => undefined);
  return { position: await submitted.durable, accepted: 0, duplicates: 0, faults: [] };
}
