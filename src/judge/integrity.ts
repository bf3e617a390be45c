// Records that never arrived. Every other judgement rests on those that did.

import type { RunEvidence } from "./evidence.ts";
import type { Finding } from "./finding.ts";
import { capital, sayCount, sayWorker } from "./words.ts";

export function judgeIntegrity({ missing, faults }: RunEvidence): Finding | null {
  const gaps = missing.filter((each) => each.missing > 0);
  const records = gaps.reduce((sum, each) => sum + each.missing, 0);
  if (records + faults === 0) return null;
  const parts = [
    ...(records === 0 ? [] : [`${sayCount(records, "record")} ${records === 1 ? "is" : "are"} missing`]),
    ...(faults === 0 ? [] : [`${sayCount(faults, "record")} could not be understood`]),
  ];
  return {
    code: "gaps",
    severity: "warn",
    confidence: "high",
    text: `${capital(parts.join(", "))}.`,
    evidence: gaps
      .slice(0, 5)
      .map(
        (each) => `${sayWorker(each.worker)}: ${sayCount(each.missing, "record")}, the first gap is ${each.firstGap}`,
      ),
    next: "What is charted may lack points. Look at how the sender was cut off; it can send again what it still has.",
    at: null,
    metric: "",
    view: "integrity",
  };
}
