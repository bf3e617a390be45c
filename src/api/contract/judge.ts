// What is wrong with a run or limits its speed, in words.

import type { Static } from "typebox";
import { confidences, findingCodes, findingViews, type RunMoment, severities } from "#judge/finding.ts";
import { AsOf, Int64, nullable, TimeNs, word } from "./scalar.ts";
import { Type } from "./schema.ts";

export const RunPlace = Type.Object({ step: nullable(Int64), ts_ns: TimeNs });

export function toRunPlace({ step, tsNs }: RunMoment): Static<typeof RunPlace> {
  return { step: step?.toString() ?? null, ts_ns: tsNs.toString() };
}

export const Verdict = Type.Object({
  code: word(findingCodes),
  severity: word(severities),
  confidence: word(confidences),
  text: Type.String(),
  evidence: Type.Array(Type.String()),
  /** The next thing to try. */
  next: Type.String(),
  /** Where it begins; null when it is about the whole run. */
  at: nullable(RunPlace),
  metric: Type.String({ description: "The metric it is about, '' for none." }),
  /** The view in which a person sees it. */
  view: word(findingViews),
});
export type Verdict = Static<typeof Verdict>;

/** The worst first; empty when nothing is wrong, or too little is known. */
export const VerdictsAnswer = Type.Object({ verdicts: Type.Array(Verdict), as_of: AsOf });
