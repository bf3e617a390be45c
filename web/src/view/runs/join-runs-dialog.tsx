// Joining the ticked runs: one of them stays, the others become part of it.

import { useState } from "react";
import type { RunSummary } from "#api/contract/run.ts";
import { useChange } from "../../data/use-api.ts";
import { Confirm } from "../../part/dialog.tsx";
import { RunChoice, staleAfterJoin } from "../run/join-dialog.tsx";

/** As many as the server takes at once, and the one that stays. */
export const joinedMax = 101;

interface JoinRunsDialogProps {
  readonly runs: readonly RunSummary[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function JoinRunsDialog({ runs, onClose, onDone }: JoinRunsDialogProps) {
  const join = useChange("joinRuns", staleAfterJoin);
  const [chosen, setChosen] = useState<string | null>(null);
  const stays = runs.find((run) => run.id === chosen) ?? toStay(runs);
  if (stays === undefined) return null;
  const ids = runs.filter((run) => run.id !== stays.id).map((run) => run.id);
  return (
    <Confirm
      title={`Join ${runs.length} runs into one`}
      onClose={onClose}
      yes="join"
      change={join}
      onYes={() => join.mutate({ params: { id: stays.id }, body: { ids } }, { onSuccess: onDone })}
    >
      <p>
        The others are shown as part of the run that stays, also what still comes of them. No record is changed; the
        run's menu parts them again.
      </p>
      <fieldset className="run-choices">
        <legend className="muted">the run that stays</legend>
        {runs.map((run) => (
          <RunChoice
            key={run.id}
            run={run}
            type="radio"
            name="run-that-stays"
            checked={run.id === stays.id}
            onChange={() => setChosen(run.id)}
          />
        ))}
      </fieldset>
    </Confirm>
  );
}

/** One that somebody gave a name, if there is one. */
function toStay(runs: readonly RunSummary[]): RunSummary | undefined {
  return runs.find((run) => run.name !== run.id) ?? runs[0];
}
