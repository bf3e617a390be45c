// Hands the records of requests to the collector, in order.

import { Turn } from "#base/turns.ts";
import type { Control } from "#control/control.ts";
import type { Input } from "#intake/input.ts";
import type { Decoded } from "#intake/input-kind.ts";
import type { Receipt } from "#intake/sequencer.ts";
import type { Fault } from "#model/fault.ts";
import { faultsMax } from "#model/fault-list.ts";
import type { Busy, Intake } from "#server/http/ports.ts";
import type { Collector } from "./collector.ts";

/** How long a client is asked to wait when there is no room: long enough for the store to take a few plans. */
const retryAfterS = { memory_full: 1, disk_full: 5 } as const;

/** Records of one body in flight: enough to share a disk sync, few enough to stop early. */
const flyingMax = 8;

export function createHttpIntake(collector: Collector, desk: Pick<Control, "hearAck">): Intake {
  return {
    /** If room runs out in the middle, the records taken before are recognised when the body is sent again. */
    async submit(submissions, answerWhen, onSent, onLetGo = null) {
      const total = { position: collector.sequencer.position.durable, accepted: 0, duplicates: 0 };
      const faults: Fault[] = [];
      const flying: Promise<Receipt | number>[] = [];
      // The last is let go of here, so that none is before all are sent.
      let looking = 1;
      const letGo = (): void => {
        looking--;
        if (looking === 0) onLetGo?.();
      };
      let busy: Busy | undefined;
      const land = (landed: Receipt | number): void => {
        if (typeof landed === "number") {
          total.position = landed;
          return;
        }
        total.position = landed.position;
        total.accepted += landed.accepted;
        total.duplicates += landed.duplicates;
        for (const fault of landed.faults) faults.push(fault);
      };
      let isFirst = true;
      const turn = new Turn();
      for (const submission of submissions) {
        // Others have their turn between two records of a body.
        if (submission === null ? turn.isOver : !isFirst) await turn.pass();
        if (submission === null) continue;
        isFirst = false;
        const { input, answers } = submission;
        // A worker that answers a command without naming its run is recognised by the command's id alone.
        if (!input.imported) for (const ack of answers ?? []) desk.hearAck(input.workspace, ack);
        const record = faults.length === 0 ? input : { ...input, faultsMax: Math.max(0, faultsMax - faults.length) };
        const decoding = submission.decoded ?? decodeHeld(collector, record);
        const decoded = decoding instanceof Promise ? await decoding : decoding;
        const submitted = collector.submit(record, decoded, letGo);
        if (typeof submitted === "string") {
          busy = { busy: true, retryAfterS: retryAfterS[submitted] };
          break;
        }
        looking++;
        flying.push(answerWhen === "applied" ? submitted.applied : submitted.durable);
        while (flying.length >= flyingMax) land(await (flying.shift() as (typeof flying)[number]));
      }
      onSent?.();
      for (const receipt of flying) land(await receipt);
      if (busy === undefined) letGo();
      return busy ?? { ...total, faults };
    },
    queryable: (position) => collector.queryable(position),
    roomFor(bytes, isQuiet) {
      const full = collector.journal.roomFor(bytes, isQuiet);
      return full === null ? null : { busy: true, retryAfterS: retryAfterS[full] };
    },
    backlogBytes: () => collector.sequencer.backlogBytes,
  };
}

/** What would have to be read back from the journal anyway is decoded then, and only then. */
function decodeHeld({ sequencer, applier }: Collector, input: Input): Decoded | null | Promise<Decoded> {
  return sequencer.holdsDecoded(input.body.length) ? applier.decodeInTurns(input) : null;
}
