// What is asked of a log: text, levels, worker, which end to read from; and its download.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useRunClock } from "../../clock/run-clock.tsx";
import { Choice } from "../../part/choice.tsx";
import { Icon } from "../../part/icon.tsx";
import { countOf, formatCount } from "../../text/format-number.ts";
import type { LogFilter } from "./log-tail.ts";
import { saveLog } from "./save-log.ts";
import type { LogStart, useLogSearch } from "./use-log-search.ts";

const levelOrder = ["debug", "info", "warning", "warn", "error", "critical"];

export interface LogBarProps {
  readonly search: ReturnType<typeof useLogSearch>;
  readonly levels: Readonly<Record<string, number>>;
  readonly follow: boolean;
  readonly onFollow: (follow: boolean) => void;
}

export function LogBar({ search, levels, follow, onFollow }: LogBarProps) {
  const { run, setPin } = useRunClock();
  const readFrom = (read: LogStart) => {
    setPin(null);
    search.change({ read });
  };
  return (
    <div className="bar wrap no-print">
      <input
        data-search
        className="field"
        placeholder="find in messages"
        aria-label="Find in messages"
        value={search.text}
        onChange={(event) => search.setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") search.setText("");
        }}
        style={{ width: 220 }}
      />
      <Levels
        counts={levels}
        chosen={search.level}
        onChange={(level) => search.change({ level: level.length === 0 ? undefined : level })}
      />
      <WorkerChoice worker={search.worker} onChange={(worker) => search.change({ worker: worker || undefined })} />
      <span className="grow" />
      <Download filter={search.filter} />
      <Choice
        label="Read from"
        options={[
          ["start", "from the start"],
          ["end", "from the end"],
        ]}
        value={search.from}
        onChange={(read: LogStart) => {
          readFrom(read);
          onFollow(read === "end" && run.status === "running");
        }}
      />
      <button
        type="button"
        className="button"
        aria-pressed={follow}
        title="stay at the newest line"
        onClick={() => {
          readFrom("end");
          onFollow(!follow);
        }}
      >
        follow
      </button>
    </div>
  );
}

function WorkerChoice({ worker, onChange }: { readonly worker: string; readonly onChange: (worker: string) => void }) {
  const { run } = useRunClock();
  if (run.worker_list.length < 2) return null;
  return (
    <select className="select" aria-label="Worker" value={worker} onChange={(event) => onChange(event.target.value)}>
      <option value="">all workers</option>
      {run.worker_list.map((each) => (
        <option key={each.worker} value={each.worker}>
          {each.worker}
        </option>
      ))}
    </select>
  );
}

function Download({ filter }: { readonly filter: LogFilter }) {
  const { run } = useRunClock();
  const [lines, setLines] = useState(0);
  const save = useMutation({ mutationFn: () => saveLog(run, filter, setLines) });
  return (
    <button
      type="button"
      className="button"
      disabled={save.isPending}
      title={save.error === null ? "the lines that are found, as a text file" : save.error.message}
      onClick={() => save.mutate()}
    >
      <Icon name={save.error === null ? "download" : "warning"} size={14} />
      {save.isPending ? countOf(lines, "line") : save.error === null ? "download" : "failed, try again"}
    </button>
  );
}

function Levels({
  counts,
  chosen,
  onChange,
}: {
  readonly counts: Readonly<Record<string, number>>;
  readonly chosen: readonly string[];
  readonly onChange: (levels: readonly string[]) => void;
}) {
  const known = Object.entries(counts).sort(([a], [b]) => levelOrder.indexOf(a) - levelOrder.indexOf(b));
  return known.map(([level, count]) => (
    <button
      key={level}
      type="button"
      className="button small"
      aria-pressed={chosen.includes(level)}
      onClick={() => onChange(chosen.includes(level) ? chosen.filter((each) => each !== level) : [...chosen, level])}
    >
      <span className={`log-level level-${level}`}>{level === "" ? "no level" : level}</span>
      <span className="muted">{formatCount(count)}</span>
    </button>
  ));
}
