// One line that says what this run is and how it is doing, and what can be done with it.

import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Run } from "#api/contract/run.ts";
import { useRunApi } from "../../clock/run-clock.tsx";
import { urlOf } from "../../data/client.ts";
import { useChange } from "../../data/use-api.ts";
import { IconButton } from "../../part/button.tsx";
import { Confirm } from "../../part/dialog.tsx";
import { TextField } from "../../part/field.tsx";
import { Icon } from "../../part/icon.tsx";
import { Menu } from "../../part/menu.tsx";
import { RunLink } from "../../part/run-link.tsx";
import { Status } from "../../part/status.tsx";
import { Took, When } from "../../part/when.tsx";
import { describeEnv } from "../../text/describe-env.ts";
import { countOf, formatFloat } from "../../text/format-number.ts";
import { canResume } from "../control/pause.ts";
import { damageOf, Formats } from "../runs/run-cells.tsx";
import { JoinDialog, PartDialog } from "./join-dialog.tsx";
import { durationParts, shareOf } from "./run-sentence.ts";

export function RunHead({ run }: { readonly run: Run }) {
  const commit = run.source["git_commit"] ?? run.source["commit"] ?? "";
  const branch = run.source["git_branch"] ?? run.source["branch"] ?? "";
  const place = describeEnv(run.env);
  return (
    <header className="row wrap run-head">
      <Status status={run.status} raw={run.status_raw} />
      <Progress run={run} />
      <span title={durationsText(run)}>
        <Took start={run.start_ns} end={run.end_ns} running={run.status === "running"} />
      </span>
      <span className="muted">
        started <When ns={run.start_ns} />
      </span>
      <Formats of={run} />
      {run.joined.length === 0 ? null : (
        <span className="chip" title={run.joined.map(({ id }) => id).join("\n")}>
          {run.joined.length + 1} runs joined
        </span>
      )}
      <Workers run={run} />
      {place === "" ? null : (
        <span className="chip" title={envText(run)}>
          <span className="clip">{place}</span>
        </span>
      )}
      {branch === "" && commit === "" ? null : (
        <code className="muted" title={commit}>
          {branch}
          {commit === "" ? "" : `@${commit.slice(0, 8)}`}
        </code>
      )}
      {run.launch === null ? null : (
        <Link to="/launches/$id/$attempt" params={{ id: run.launch.id, attempt: String(run.launch.attempt) }}>
          launch {run.launch.id.slice(0, 8)} #{run.launch.index ?? "?"}
        </Link>
      )}
      <Integrity run={run} />
      <span className="grow" />
      <span className="row no-print">
        {run.status === "running" ? <Steer run={run} /> : null}
        <Actions run={run} />
      </span>
    </header>
  );
}

function Workers({ run }: { readonly run: Run }) {
  const ranks = new Set(run.worker_list.map((worker) => worker.rank).filter((rank) => rank !== null)).size;
  const parts = [run.workers > 1 ? `${run.workers} workers` : "", ranks > 1 ? `${ranks} ranks` : ""];
  const text = parts.filter((part) => part !== "").join(", ");
  return text === "" ? null : <span className="chip">{text}</span>;
}

function envText(run: Run): string {
  return Object.entries(run.env)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

/** The three ways to measure how long a worker took, where there is more than the obvious one. */
function durationsText(run: Run): string {
  const rows = run.durations.map((each) => `${each.worker === "" ? "" : `${each.worker}: `}${durationParts(each)}`);
  return ["how long it took", ...rows].join("\n");
}

/** Pause or resume, and stop: both lead to the question on the Control page. */
function Steer({ run }: { readonly run: Run }) {
  const commands = useRunApi("commands", {}, { refetchMs: 5_000 });
  const open = (commands.data?.accepting.length ?? 0) > 0;
  const paused = canResume(run.status_raw, commands.data?.commands ?? []);
  const navigate = useNavigate();
  const ask = (type: string) =>
    void navigate({ to: "/runs/$id/control", params: { id: run.id }, search: { ask: type } as never });
  const how = open ? undefined : (commands.data?.how ?? "");
  return (
    <>
      <IconButton
        look=""
        icon={paused ? "play" : "pause"}
        label={paused ? "Resume…" : "Pause…"}
        title={how}
        disabled={!open}
        onClick={() => ask(paused ? "resume" : "pause")}
      />
      <IconButton look="" icon="stop" label="Stop…" title={how} disabled={!open} onClick={() => ask("stop")} />
    </>
  );
}

function Progress({ run }: { readonly run: Run }) {
  if (run.progress === null) return null;
  const { unit, message, current, total } = run.progress;
  const told = shareOf(run.progress);
  if (told === null) {
    return (
      <span className="muted">
        {unit} {formatFloat(current)}
      </span>
    );
  }
  const share = Math.max(0, Math.min(1, told));
  return (
    <span className="row" title={message}>
      <span className="muted">
        {unit} {formatFloat(current)}/{formatFloat(total)}
      </span>
      <span className="meter" aria-hidden="true">
        <i style={{ width: `${share * 100}%` }} />
      </span>
      {Math.floor(share * 100)} %
    </span>
  );
}

function Integrity({ run }: { readonly run: Run }) {
  const damage = damageOf(run.integrity);
  const { length: notes } = run.notes_on_data;
  // A note may say that something never came, which no count shows.
  const [tone, icon, text] =
    damage !== ""
      ? (["status-warn", "warning", damage] as const)
      : notes > 0
        ? (["muted", "info", countOf(notes, "note")] as const)
        : (["status-completed", "check", "nothing missing"] as const);
  return (
    <RunLink id={run.id} view="integrity" look={`badge ${tone}`}>
      <Icon name={icon} size={14} />
      {text}
    </RunLink>
  );
}

function Actions({ run }: { readonly run: Run }) {
  const navigate = useNavigate();
  const [asking, setAsking] = useState<"edit" | "join" | "part" | "delete" | null>(null);
  const close = () => setAsking(null);
  const archive = useChange("patchRun", ["run", "runs"]);
  const save = (format: "jsonl" | "chrome" | "csv") => {
    const query = format === "csv" ? { format, kind: "metrics" as const } : { format };
    window.location.assign(urlOf("exportRun", { params: { id: run.id }, query }));
  };
  return (
    <>
      <Menu
        trigger={<IconButton look="" icon="more" label="More actions" />}
        entries={[
          { label: "Edit name, tags, notes", icon: "tag", act: () => setAsking("edit") },
          {
            label: "Compare with others",
            icon: "compare",
            act: () => void navigate({ to: "/compare", search: { run: [run.id] } }),
          },
          { label: "Join other runs to it", icon: "plus", act: () => setAsking("join") },
          ...(run.joined.length === 0
            ? []
            : [{ label: "Part joined runs", icon: "cross" as const, act: () => setAsking("part") }]),
          {
            label: "Report to print",
            icon: "image",
            act: () => void navigate({ to: "/runs/$id/report", params: { id: run.id } }),
          },
          { label: "Export everything (JSONL)", icon: "download", act: () => save("jsonl") },
          { label: "Export the trace (Perfetto)", icon: "download", act: () => save("chrome") },
          { label: "Export metrics (CSV)", icon: "download", act: () => save("csv") },
          {
            label: run.archived ? "Bring back from the archive" : "Archive",
            icon: "down",
            act: () => archive.mutate({ params: { id: run.id }, body: { archived: !run.archived } }),
          },
          { label: "Delete", icon: "trash", danger: true, act: () => setAsking("delete") },
        ]}
      />
      {asking === "edit" ? <EditDialog run={run} onClose={close} /> : null}
      {asking === "join" ? <JoinDialog run={run} onClose={close} /> : null}
      {asking === "part" ? <PartDialog run={run} onClose={close} /> : null}
      {asking === "delete" ? <DeleteDialog run={run} onClose={close} /> : null}
    </>
  );
}

function DeleteDialog({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useChange("deleteRun", ["runs"]);
  return (
    <Confirm
      title={`Delete ${run.name}`}
      onClose={onClose}
      no="keep it"
      yes="delete the run"
      look="danger"
      change={remove}
      onYes={() => remove.mutate({ params: { id: run.id } }, { onSuccess: () => void navigate({ to: "/runs" }) })}
    >
      <p>
        Its rows and blobs are removed from this server. A job that is still running starts it again with its next
        record.
      </p>
    </Confirm>
  );
}

/** Names, tags and notes people give; what the client sent stays beside them. */
function EditDialog({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const change = useChange("patchRun", ["run", "runs"]);
  const [name, setName] = useState(run.name);
  const [tags, setTags] = useState(run.tags.join(", "));
  const [notes, setNotes] = useState(run.notes);
  const save = () => {
    const words = tags.split(",").map((tag) => tag.trim());
    const body = { name: name.trim() || null, tags: words.filter((tag) => tag !== ""), notes };
    change.mutate({ params: { id: run.id }, body }, { onSuccess: onClose });
  };
  return (
    <Confirm title="Edit the run" yes="save" change={change} onYes={save} onClose={onClose}>
      <label className="stack" style={{ gap: 4 }}>
        name
        <TextField value={name} onChange={setName} />
        {run.name_sent === "" || run.name_sent === name ? null : (
          <span className="muted">sent as “{run.name_sent}”</span>
        )}
      </label>
      <label className="stack" style={{ gap: 4 }}>
        tags, with commas between
        <TextField value={tags} onChange={setTags} />
      </label>
      <label className="stack" style={{ gap: 4 }}>
        notes
        <textarea className="field" rows={5} value={notes} onChange={(event) => setNotes(event.target.value)} />
      </label>
    </Confirm>
  );
}
