// What is wrong with the run or bounds it: each verdict with its evidence and the next thing to try.

import type { Verdict } from "#api/contract/judge.ts";
import type { Run } from "#api/contract/run.ts";
import { useRunApi } from "../../clock/run-clock.tsx";
import { Entry } from "../../part/entry.tsx";
import { RunLink } from "../../part/run-link.tsx";

const looks = {
  bad: { icon: "cross", tone: "status-failed" },
  warn: { icon: "warning", tone: "status-warn" },
  info: { icon: "info", tone: "muted" },
} as const;

/** Shows nothing when there is no finding. */
export function Findings({ run }: { readonly run: Run }) {
  const answer = useRunApi(
    "verdicts",
    {},
    { keep: true, staleMs: 10_000, ...(run.status === "running" ? { refetchMs: 15_000 } : {}) },
  );
  const verdicts = answer.data?.verdicts ?? [];
  if (verdicts.length === 0) return null;
  return (
    <ul className="panel" aria-label="Findings">
      {verdicts.map((verdict) => (
        <FindingRow key={verdict.code} run={run} verdict={verdict} />
      ))}
    </ul>
  );
}

function FindingRow({ run, verdict }: { readonly run: Run; readonly verdict: Verdict }) {
  const { icon, tone } = looks[verdict.severity];
  const isOfMetric = verdict.view === "charts" && verdict.metric !== "";
  return (
    <Entry
      code={verdict.code}
      icon={icon}
      tone={tone}
      title={
        <>
          <strong>{verdict.text}</strong>{" "}
          {verdict.confidence === "medium" ? <span className="muted">likely, not certain</span> : null}
        </>
      }
      evidence={verdict.evidence}
      side={<RunLink id={run.id} view={verdict.view} search={isOfMetric ? { find: verdict.metric } : {}} />}
    >
      <p>{verdict.next}</p>
    </Entry>
  );
}
