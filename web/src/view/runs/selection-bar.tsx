// What can be done with the selected runs.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { RunSummary } from "#api/contract/run.ts";
import { call, urlOf } from "../../data/client.ts";
import { useChange } from "../../data/use-api.ts";
import { Button } from "../../part/button.tsx";
import { Confirm } from "../../part/dialog.tsx";
import { TextField } from "../../part/field.tsx";
import { Icon } from "../../part/icon.tsx";
import { Menu } from "../../part/menu.tsx";
import { saveFile } from "../../part/save-file.ts";
import { countOf, formatCount } from "../../text/format-number.ts";
import { RunChoice, staleAfterJoin } from "../run/join-dialog.tsx";
import { toRunsCsv } from "./runs-csv.ts";

const comparedMax = 100;
/** How long a filter may be. Of more runs the page exports only the table, the command line everything. */
const filterMax = 4096;

interface SelectionBarProps {
  readonly runs: readonly RunSummary[];
  /** The rest of all runs is still being asked for. */
  readonly gathering: boolean;
  readonly columns: readonly string[];
  readonly onClear: () => void;
}

export function SelectionBar({ runs, gathering, columns, onClear }: SelectionBarProps) {
  const navigate = useNavigate();
  const [asking, setAsking] = useState<"tag" | "join" | "delete" | null>(null);
  const close = () => setAsking(null);
  const done = () => {
    close();
    onClear();
  };
  const ids = runs.map((run) => run.id);
  const filter = ids.map((id) => `id:"${id}"`).join(" OR ");
  const tooMany = filter.length > filterMax;
  const fetchExport = (query: { format: "jsonl" } | { format: "parquet"; kind: "runs" }) =>
    window.location.assign(urlOf("exportRuns", { query: { ...query, filter } }));
  return (
    <section className="row selection" aria-label="Selected runs">
      <strong>
        {formatCount(runs.length)} selected{gathering ? " …" : ""}
      </strong>
      <Button
        look="primary"
        disabled={runs.length < 2 || runs.length > comparedMax}
        title={runs.length > comparedMax ? `at most ${comparedMax} runs can be compared` : undefined}
        onClick={() => void navigate({ to: "/compare", search: { run: ids } })}
      >
        Compare
      </Button>
      <Menu
        trigger={
          <Button>
            Export <Icon name="down" size={12} />
          </Button>
        }
        entries={[
          {
            label: "CSV, the table as shown",
            act: () => saveFile(new Blob([toRunsCsv(runs, columns)], { type: "text/csv" }), "runs.csv"),
          },
          ...(tooMany
            ? []
            : [
                { label: "Parquet, the runs", act: () => fetchExport({ format: "parquet", kind: "runs" }) },
                { label: "JSONL, everything", act: () => fetchExport({ format: "jsonl" }) },
              ]),
        ]}
      />
      <Button onClick={() => setAsking("tag")}>Tag</Button>
      <Button
        disabled={runs.length < 2 || runs.length > joinedMax}
        title="they belong together: make them one run"
        onClick={() => setAsking("join")}
      >
        Join
      </Button>
      <Button look="danger" onClick={() => setAsking("delete")}>
        Delete
      </Button>
      <Button look="quiet" onClick={onClear}>
        clear
      </Button>
      {asking === "tag" ? <TagDialog runs={runs} onClose={close} /> : null}
      {asking === "join" ? <JoinRunsDialog runs={runs} onClose={close} onDone={done} /> : null}
      {asking === "delete" ? <DeleteDialog runs={runs} onClose={close} onDone={done} /> : null}
    </section>
  );
}

interface AskProps {
  readonly runs: readonly RunSummary[];
  readonly onClose: () => void;
}

function TagDialog({ runs, onClose }: AskProps) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const tag = text.trim();
  const add = useMutation({
    mutationFn: async () => {
      for (const run of runs) {
        if (run.tags.includes(tag)) continue;
        await call("patchRun", { params: { id: run.id }, body: { tags: [...run.tags, tag] } });
      }
      await client.invalidateQueries({ queryKey: ["runs"] });
    },
    onSuccess: onClose,
  });
  return (
    <Confirm
      title={`Tag ${countOf(runs.length, "run")}`}
      yes="add the tag"
      ready={tag !== ""}
      change={add}
      onYes={() => add.mutate()}
      onClose={onClose}
    >
      <TextField label="Tag" value={text} onChange={setText} />
    </Confirm>
  );
}

function DeleteDialog({ runs, onClose, onDone }: AskProps & { readonly onDone: () => void }) {
  const remove = useChange("deleteRuns", ["runs"]);
  return (
    <Confirm
      title={`Delete ${countOf(runs.length, "run")}`}
      onClose={onClose}
      no="keep them"
      yes={`delete ${countOf(runs.length, "run")}`}
      look="danger"
      change={remove}
      onYes={() =>
        remove.mutate({ body: { ids: runs.map((run) => run.id), expect: runs.length } }, { onSuccess: onDone })
      }
    >
      <p>
        Their rows and blobs are removed from this server and cannot be brought back from here. Files on the machines
        that made them are not touched; importing those again restores the runs.
      </p>
      <p className="clip muted">{runs.map((run) => run.name).join(", ")}</p>
    </Confirm>
  );
}

/** As many as the server takes at once, and the one that stays. */
const joinedMax = 101;

interface JoinRunsDialogProps {
  readonly runs: readonly RunSummary[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Joining the ticked runs: one of them stays, the others become part of it. */
function JoinRunsDialog({ runs, onClose, onDone }: JoinRunsDialogProps) {
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
