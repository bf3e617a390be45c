// Joining other runs to this one, and parting them again. Those that began near it in time come first: a training that
// was recorded twice, by two clients, mostly began at the same moment.

import { type ComponentProps, useState } from "react";
import type { Run, RunSummary } from "#api/contract/run.ts";
import { useApi, useChange } from "../../data/use-api.ts";
import { useSettled } from "../../data/use-settled.ts";
import { Button } from "../../part/button.tsx";
import { Confirm } from "../../part/dialog.tsx";
import { TextField } from "../../part/field.tsx";
import { Answer } from "../../part/notice.tsx";
import { toggled } from "../../part/toggled.ts";
import { When } from "../../part/when.tsx";
import { countOf } from "../../text/format-number.ts";
import { toMs } from "../../text/format-time.ts";

interface AskProps {
  readonly run: Run;
  readonly onClose: () => void;
}

/** Routes whose answers a join changes. */
export const staleAfterJoin = ["run", "runs", "metrics", "series", "snapshots", "commands"] as const;

const shownMax = 12;

export function JoinDialog({ run, onClose }: AskProps) {
  const join = useChange("joinRuns", staleAfterJoin);
  const [find, setFind] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const filter = useSettled(find.trim(), 200);
  const found = useApi(
    "runs",
    { query: { filter: filter === "" ? "" : toFilter(filter), limit: 200 } },
    { keep: true },
  );
  return (
    <Confirm
      title={`Join runs to ${run.name}`}
      yes={`join ${chosen.size === 0 ? "" : countOf(chosen.size, "run")}`}
      ready={chosen.size > 0}
      change={join}
      onYes={() => join.mutate({ params: { id: run.id }, body: { ids: [...chosen] } }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        Their spans, metrics, logs and files are shown as this run's from then on, also those that still come. Nothing
        is changed in the records, and they can be parted again.
      </p>
      <TextField label="Find runs to join" placeholder="find by name or id" value={find} onChange={setFind} />
      <Answer of={found}>
        {(data) => (
          <fieldset className="run-choices">
            <legend className="hidden-text">Runs to join</legend>
            {nearest(data.runs, run).map((other) => (
              <RunChoice
                key={other.id}
                run={other}
                type="checkbox"
                checked={chosen.has(other.id)}
                onChange={() => setChosen(toggled(chosen, other.id))}
              />
            ))}
          </fieldset>
        )}
      </Answer>
    </Confirm>
  );
}

/** A run to be chosen, with what tells it from others of its name. */
export function RunChoice({ run, ...input }: ComponentProps<"input"> & { readonly run: RunSummary }) {
  return (
    <label className="menu-item">
      <input {...input} />
      <span className="clip grow">{run.name}</span>
      <span className="muted">{run.protocols.join(", ")}</span>
      <span className="muted">
        <When ns={run.start_ns} />
      </span>
    </label>
  );
}

function toFilter(words: string): string {
  const quoted = JSON.stringify(words);
  return `name:${quoted} OR id:${quoted}`;
}

function nearest(runs: readonly RunSummary[], run: Run): RunSummary[] {
  const startOf = ({ start_ns }: RunSummary) => toMs(start_ns ?? "0");
  const distance = (other: RunSummary) => Math.abs(startOf(other) - startOf(run));
  return runs
    .filter((other) => other.id !== run.id)
    .toSorted((a, b) => distance(a) - distance(b))
    .slice(0, shownMax);
}

export function PartDialog({ run, onClose }: AskProps) {
  const part = useChange("partRuns", staleAfterJoin);
  return (
    <Confirm
      title="Part joined runs"
      onClose={onClose}
      no="keep them joined"
      yes="part all"
      look="danger"
      change={part}
      onYes={() => part.mutate({ params: { id: run.id } }, { onSuccess: onClose })}
    >
      <p>Each becomes a separate run again, with everything it recorded.</p>
      {run.joined.map(({ id, by, at_ns }) => (
        <div key={id} className="row">
          <code className="clip grow">{id}</code>
          <span className="muted">
            {by === "" ? "" : `${by}, `}
            <When ns={at_ns} />
          </span>
          <Button
            look="small"
            aria-label={`Part ${id}`}
            disabled={part.isPending}
            onClick={() =>
              part.mutate({ params: { id } }, { onSuccess: () => (run.joined.length === 1 ? onClose() : undefined) })
            }
          >
            part
          </Button>
        </div>
      ))}
    </Confirm>
  );
}
