// What is wrong with the run or bounds it: each verdict with its evidence and the next thing to try.

import type { Verdict } from "#api/contract/judge.ts";
import type { Run } from "#api/contract/run.ts";
import { useRunApi } from "../../clock/run-clock.tsx";
import { Icon } from "../../part/icon.tsx";
import { RunLink } from "../../part/run-link.tsx";

const looks = {
  bad: { icon: "cross", className: "status-failed" },
  warn: { icon: "warning", className: "status-warn" },
  info: { icon: "info", className: "muted" },
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
  const { icon, className } = looks[verdict.severity];
  const isOfMetric = verdict.view === "charts" && verdict.metric !== "";
  return (
    <li className="entry finding" data-code={verdict.code}>
      <span className={className}>
        <Icon name={icon} size={14} />
      </span>
      <div className="grow">
        <p>
          <strong>{verdict.text}</strong>{" "}
          {verdict.confidence === "medium" ? <span className="muted">likely, not certain</span> : null}
        </p>
        <p className="muted">{verdict.evidence.join(" · ")}</p>
        <p>{verdict.next}</p>
      </div>
      <RunLink id={run.id} view={verdict.view} search={isOfMetric ? { find: verdict.metric } : {}} />
    </li>
  );
}
