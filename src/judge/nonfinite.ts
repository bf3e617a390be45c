// Values that are NaN or infinite: since when, where first, and whether it went away.

import type { EvidenceSeries, NonfiniteMetric, RunEvidence } from "./evidence.ts";
import type { Finding } from "./finding.ts";
import { isLoss } from "./names.ts";
import { sayCount, sayMetric, sayMoment, sayNumber } from "./words.ts";

export function judgeNonfinite(evidence: RunEvidence): Finding | null {
  const lasting = evidence.nonfinite.filter(isLasting);
  const chosen = mostTelling(lasting) ?? mostTelling(evidence.nonfinite);
  if (chosen === null) return null;
  const stays = isLasting(chosen);
  const others = evidence.nonfinite.filter((metric) => metric !== chosen).map(sayMetric);
  const tensor = evidence.firstBadTensor;
  const where = sayMoment(chosen.first);
  const since = stays ? `is not finite from ${where} on` : `was not finite at ${where}, and recovered`;
  return {
    code: "nonfinite",
    severity: stays ? "bad" : "warn",
    confidence: stays && chosen.nonfinite < 3 ? "medium" : "high",
    text: `${sayMetric(chosen)} ${since}${tensor === null ? "" : `; first in the tensor ${tensor.tensor}`}.`,
    evidence: [
      `${sayCount(chosen.nonfinite, "point")} of ${chosen.count.toLocaleString("en")} of ${sayMetric(chosen)} ${chosen.nonfinite === 1 ? "is" : "are"} not finite`,
      ...(others.length === 0 ? [] : [`also not finite: ${others.slice(0, 5).join(", ")}`]),
      ...(tensor === null ? [] : [`${tensor.tensor} had a value that is not finite at ${sayMoment(tensor)}`]),
    ],
    next: nextThing(evidence, stays),
    at: chosen.first,
    metric: chosen.key,
    view: tensor === null ? "charts" : "tensors",
  };
}

/** No finite value followed the first one that was not. */
function isLasting({ first, lastFiniteNs }: NonfiniteMetric): boolean {
  return lastFiniteNs === null || lastFiniteNs <= first.tsNs;
}

/** Losses first, then by when it began. */
function mostTelling(metrics: readonly NonfiniteMetric[]): NonfiniteMetric | null {
  const byTelling = (a: NonfiniteMetric, b: NonfiniteMetric) =>
    Number(isLoss(b.key)) - Number(isLoss(a.key)) || Number(a.first.tsNs - b.first.tsNs) || a.key.length - b.key.length;
  return metrics.toSorted(byTelling)[0] ?? null;
}

function nextThing({ params, learningRates }: RunEvidence, stays: boolean): string {
  const rate = rateOf(params, learningRates);
  const lower = rate === null ? "Lower the learning rate" : `Lower the learning rate (it is ${sayNumber(rate)})`;
  return stays
    ? `${lower}, clip gradients, and go on from a checkpoint before that step.`
    : "Look at the batch of that step, and clip gradients if it comes again.";
}

/** The largest that a metric shows, else the parameter. */
export function rateOf(params: Readonly<Record<string, string>>, series: readonly EvidenceSeries[]): number | null {
  const shown = series.flatMap(({ values }) => [...values.filter(Number.isFinite)]);
  if (shown.length > 0) return shown.reduce((most, value) => (value > most ? value : most));
  const name = Object.keys(params).find((each) => /(^|\.)(lr|learning_rate)$/i.test(each));
  const value = name === undefined ? Number.NaN : Number(params[name]);
  return Number.isFinite(value) ? value : null;
}
