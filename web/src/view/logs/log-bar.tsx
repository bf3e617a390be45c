// What is asked of a log: text, levels, worker, which end to read from; and its download.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useRunClock } from "../../clock/run-clock.tsx";
import { Button } from "../../part/button.tsx";
import { Choice, Select, TextField } from "../../part/field.tsx";
import { toggled } from "../../part/toggled.ts";
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
    <div className="row bar wrap no-print">
      <TextField
        data-search
        label="Find in messages"
        value={search.text}
        onChange={search.setText}
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
      <Button
        aria-pressed={follow}
        title="stay at the newest line"
        onClick={() => {
          readFrom("end");
          onFollow(!follow);
        }}
      >
        follow
      </Button>
    </div>
  );
}

function WorkerChoice({ worker, onChange }: { readonly worker: string; readonly onChange: (worker: string) => void }) {
  const { run } = useRunClock();
  if (run.worker_list.length < 2) return null;
  return (
    <Select
      label="Worker"
      value={worker}
      options={[["", "all workers"], ...run.worker_list.map((each) => [each.worker, each.worker] as const)]}
      onChange={onChange}
    />
  );
}

function Download({ filter }: { readonly filter: LogFilter }) {
  const { run } = useRunClock();
  const [lines, setLines] = useState(0);
  const save = useMutation({ mutationFn: () => saveLog(run, filter, setLines) });
  return (
    <Button
      icon={save.error === null ? "download" : "warning"}
      disabled={save.isPending}
      title={save.error === null ? "the lines that are found, as a text file" : save.error.message}
      onClick={() => save.mutate()}
    >
      {save.isPending ? countOf(lines, "line") : save.error === null ? "download" : "failed, try again"}
    </Button>
  );
}

interface LevelsProps {
  readonly counts: Readonly<Record<string, number>>;
  readonly chosen: readonly string[];
  readonly onChange: (levels: readonly string[]) => void;
}

function Levels({ counts, chosen, onChange }: LevelsProps) {
  const known = Object.entries(counts).sort(([a], [b]) => levelOrder.indexOf(a) - levelOrder.indexOf(b));
  return known.map(([level, count]) => (
    <Button
      key={level}
      look="small"
      aria-pressed={chosen.includes(level)}
      onClick={() => onChange(toggled(chosen, level))}
    >
      <span className={`log-level level-${level}`}>{level === "" ? "no level" : level}</span>
      <span className="muted">{formatCount(count)}</span>
    </Button>
  ));
}
