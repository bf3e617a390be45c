// The six steps through the bundled sample: from a dip in a curve to its cause, and to a run that is stopped by hand.
// The sample never changes, so its ids and times stand here; a test walks the steps on it.

import { toSegment } from "#api/contract/segment.ts";

export const profiledRun = "349082d8-7fd3-4e08-aeb5-ffb29c1d81d9";
export const divergedRun = "f938130c-5b83-4c28-8b74-f40369bfb949";

/** Around step 150 of the profiled run: the end of an epoch, its snapshots, and the first steps after it. */
const dip = { from: "1794710579246193000", to: "1794710579406193000" };

export interface TourStep {
  readonly title: string;
  readonly text: string;
  /** Null while nothing trains. */
  readonly href: string | null;
}

/** `liveRun`: null when none runs, undefined while that is not known. */
export function toTourSteps(liveRun: string | null | undefined): readonly TourStep[] {
  const run = `/runs/${profiledRun}`;
  const window = new URLSearchParams(dip).toString();
  return [
    {
      title: "A dip in a curve",
      text: "Throughput of this training falls to half at step 150, and again every few hundred steps. One point is enough: extremes are never averaged away.",
      href: `${run}/charts?find=tokens_per_s&axis=step`,
    },
    {
      title: "The step",
      text: "The same run with 160 ms around that step as its window. Charts, timeline, tensors and logs all follow it; Esc clears it. The tick on the top edge is a checkpoint: an epoch has just ended.",
      href: `${run}/charts?axis=step&${window}`,
    },
    {
      title: "The slow span",
      text: "The spans came from another client in another format, and are the same run on the same clock. In step 150 forward took 12.4 ms; usually it takes 2.2.",
      href: `${run}/timeline?${window}`,
    },
    {
      title: "The tensors",
      text: "And here is what delayed it: weights and gradients were snapshot between the two epochs. Their histograms show the same window.",
      href: `${run}/tensors?tensor=blocks.0.fc.weight&${window}`,
    },
    {
      title: "The log line",
      text: "Another run of this sweep went to NaN. Its curves are marked where values stopped being numbers, and its log says so.",
      href: `/runs/${divergedRun}/logs`,
    },
    {
      title: "Stop a live run",
      text:
        liveRun === null
          ? "No training is running: it was stopped, or the demo was started with --no-live."
          : "This one trains while you read. Pause it, change its learning rate, or stop it; each command is shown here from queued to confirmed.",
      href: liveRun ? `/runs/${toSegment(liveRun)}/control?ask=stop` : null,
    },
  ];
}
