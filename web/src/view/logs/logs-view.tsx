// The log: by level, text and worker, within the shared window, growing as lines arrive, following when asked.

import { useCallback, useMemo, useState } from "react";
import { isAfter } from "#model/positions.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { useCatchUp } from "../../data/use-live.ts";
import { usePages } from "../../data/use-pages.ts";
import { Choice } from "../../part/choice.tsx";
import { CommandLine, Empty, Problem } from "../../part/notice.tsx";
import { VirtualList } from "../../part/virtual-list.tsx";
import { formatCount } from "../../text/format-number.ts";
import { LogLine } from "./log-line.tsx";
import { addLevels, appendLines, type LogFilter } from "./log-tail.ts";
import "./logs.css";
import { useGutter } from "./use-gutter.ts";
import { useLogTail } from "./use-log-tail.ts";

const levelOrder = ["debug", "info", "warning", "warn", "error", "critical"];

type Start = "start" | "end";

export function LogsView() {
  const { run, query: window, startNs } = useRunClock();
  const [search, setSearch] = useState("");
  const [levels, setLevels] = useState<readonly string[]>([]);
  const [worker, setWorker] = useState("");
  // A log is read from its start; of a run that goes on, people want its end.
  const [from, setFrom] = useState<Start>(run.status === "running" ? "end" : "start");
  const [follow, setFollow] = useState(run.status === "running");
  const log = useLog(from, {
    ...window,
    ...(search === "" ? {} : { q: search }),
    ...(levels.length === 0 ? {} : { level: [...levels] }),
    ...(worker === "" ? {} : { worker: [worker] }),
  });
  const { pages, rows } = log;
  const gutter = useGutter();
  const [seen, setSeen] = useState(0);
  const below = follow || from === "start" ? 0 : Math.max(0, log.appended - seen);
  const leaveEnd = () => {
    if (!follow) return;
    setSeen(log.appended);
    setFollow(false);
  };
  return (
    <>
      <div className="bar wrap no-print">
        <input
          data-search
          className="field"
          placeholder="find in messages"
          aria-label="Find in messages"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          style={{ width: 220 }}
        />
        <Levels counts={log.levels} chosen={levels} onChange={setLevels} />
        {run.worker_list.length > 1 ? (
          <select
            className="select"
            aria-label="Worker"
            value={worker}
            onChange={(event) => setWorker(event.target.value)}
          >
            <option value="">all workers</option>
            {run.worker_list.map((each) => (
              <option key={each.worker} value={each.worker}>
                {each.worker}
              </option>
            ))}
          </select>
        ) : null}
        <span className="grow" />
        <Choice
          label="Read from"
          options={[
            ["start", "from the start"],
            ["end", "from the end"],
          ]}
          value={from}
          onChange={(next: Start) => {
            setFrom(next);
            setFollow(next === "end" && run.status === "running");
          }}
        />
        <button
          type="button"
          className="button"
          aria-pressed={follow}
          title="stay at the newest line"
          onClick={() => {
            setFrom("end");
            setFollow(!follow);
            setSeen(log.appended);
          }}
        >
          follow
        </button>
      </div>
      {pages.error === null ? null : (
        <div style={{ padding: 16 }}>
          <Problem error={pages.error} retry={() => void pages.refetch()} />
        </div>
      )}
      {log.asked && rows.length === 0 ? (
        <NoLogs any={run.counts.logs > 0} />
      ) : (
        <VirtualList
          rows={rows}
          keyOf={(row) => row.id}
          rowPx={22}
          label="Log lines"
          follow={follow}
          from={from}
          more={pages.hasNextPage}
          onEnd={log.more}
          onLeaveEnd={leaveEnd}
        >
          {(row) => <LogLine row={row} startNs={startNs} gutter={gutter} />}
        </VirtualList>
      )}
      {below === 0 ? null : (
        <button type="button" className="news log-news" onClick={() => setFollow(true)}>
          {formatCount(below)} new {below === 1 ? "line" : "lines"} below — follow
        </button>
      )}
    </>
  );
}

/** The lines of a question, oldest first: pages from the server, and what arrived since. */
function useLog(from: Start, filter: LogFilter) {
  const { run } = useRunClock();
  const tail = useLogTail(run.id);
  const query = { ...filter, limit: 500, order: from === "end" ? ("desc" as const) : ("asc" as const) };
  const { pages, rows: found, first } = usePages("logs", { params: { id: run.id }, query }, (answer) => answer.logs);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  useCatchUp(first?.as_of, pages.refetch);
  const key = JSON.stringify(filter);
  // Reading from the start, new lines follow only when every older page is here.
  const open = from === "end" || !hasNextPage;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the filter.
  const rows = useMemo(() => {
    const ordered = from === "end" ? found.toReversed() : found;
    return open
      ? appendLines(
          ordered,
          tail.map((line) => line.row),
          filter,
        )
      : ordered;
  }, [from, found, open, tail, key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above.
  const levels = useMemo(() => {
    const asOf = first?.as_of ?? "";
    const since = tail.filter((line) => isAfter(line.event, asOf)).map((line) => line.row);
    return addLevels(first?.levels ?? {}, since, filter);
  }, [first, tail, key]);
  const more = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
  return { pages, rows, levels, more, asked: first !== undefined, appended: tail.length };
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

function NoLogs({ any }: { readonly any: boolean }) {
  if (any) return <Empty title="No line matches in this window." />;
  return (
    <Empty title="No logs yet.">
      <p>XTrack logs come by themselves. To keep what a program prints as well:</p>
      <CommandLine text="tributary run -- python train.py" />
    </Empty>
  );
}
