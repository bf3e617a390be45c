// Every judgement on one run, worst first. Pure: the same evidence always gives the same findings, and thin
// evidence gives none.

import { judgeDivergence } from "./divergence.ts";
import type { RunEvidence } from "./evidence.ts";
import { type Finding, sortFindings } from "./finding.ts";
import { judgeIntegrity } from "./integrity.ts";
import { judgeNonfinite } from "./nonfinite.ts";
import { judgeStraggler } from "./straggler.ts";
import { judgeTime } from "./time.ts";

export function judgeRun(evidence: RunEvidence): Finding[] {
  const found = [
    judgeNonfinite(evidence),
    ...judgeDivergence(evidence),
    judgeStraggler(evidence),
    ...judgeTime(evidence),
    judgeIntegrity(evidence),
  ];
  return sortFindings(found.filter((finding) => finding !== null));
}
