// The log: by level, text and worker, within the shared window, following when asked.

import { useCallback, useMemo, useState } from "react";
import type { LogRow, LogsAnswer } from "#api/contract/record.ts";
import { defined } from "../../app/search.ts";
import { setCursor, useCursor } from "../../clock/cursor.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { usePages } from "../../data/use-pages.ts";
import { CommandLine, Empty, Problem } from "../../part/notice.tsx";
import { VirtualList } from "../../part/virtual-list.tsx";
import { formatCount } from "../../text/format-number.ts";
import { formatElapsed, formatTime, toMs, toOffsetNs } from "../../text/format-time.ts";
import "./logs.css";

const levelOrder = ["debug", "info", "warning", "warn", "error", "critical"];

export function LogsView() {
  const { run, query: window, startNs } = useRunClock();
  const [search, setSearch] = useState("");
  const [levels, setLevels] = useState<readonly string[]>([]);
  const [worker, setWorker] = useState("");
  const [follow, setFollow] = useState(run.status === "running");
  const query = defined({
    ...window,
    q: search === "" ? undefined : search,
    level: levels.length === 0 ? undefined : [...levels],
    worker: worker === "" ? undefined : [worker],
    limit: 500,
    // Following shows the newest lines only; reading from the start pages through all of them.
    order: follow ? ("desc" as const) : ("asc" as const),
  });
  const { pages, rows: found, first } = usePages("logs", { params: { id: run.id }, query }, (answer) => answer.logs);
  const rows = useMemo(() => (follow ? found.slice(0, 500).reverse() : found), [follow, found]);
  const onEnd = useCallback(() => {
    if (!pages.isFetchingNextPage) void pages.fetchNextPage();
  }, [pages.isFetchingNextPage, pages.fetchNextPage]);
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
        <Levels answer={first} chosen={levels} onChange={setLevels} />
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
        <button type="button" className="button" aria-pressed={follow} onClick={() => setFollow(!follow)}>
          follow
        </button>
      </div>
      {pages.error === null ? null : (
        <div style={{ padding: 16 }}>
          <Problem error={pages.error} retry={() => void pages.refetch()} />
        </div>
      )}
      {first !== undefined && rows.length === 0 ? (
        <NoLogs any={run.counts.logs > 0} />
      ) : (
        <VirtualList
          rows={rows}
          keyOf={(row) => row.id}
          rowPx={22}
          label="Log lines"
          follow={follow}
          more={!follow && pages.hasNextPage}
          onEnd={onEnd}
          onLeaveEnd={() => setFollow(false)}
        >
          {(row) => <Line row={row} startNs={startNs} />}
        </VirtualList>
      )}
    </>
  );
}

function Levels({
  answer,
  chosen,
  onChange,
}: {
  readonly answer: LogsAnswer | undefined;
  readonly chosen: readonly string[];
  readonly onChange: (levels: readonly string[]) => void;
}) {
  const known = Object.entries(answer?.levels ?? {}).sort(([a], [b]) => levelOrder.indexOf(a) - levelOrder.indexOf(b));
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

function Line({ row, startNs }: { readonly row: LogRow; readonly startNs: string }) {
  const { setWindow } = useRunClock();
  const t = toOffsetNs(row.ts_ns, startNs);
  const cursor = useCursor();
  const near = cursor !== null && cursor.from !== "logs" && Math.abs(cursor.t - t) < 5e7;
  return (
    <div
      className={`log-line ${near ? "near" : ""}`}
      onPointerEnter={() => setCursor({ t, from: "logs" })}
      onPointerLeave={() => setCursor(null)}
    >
      <button
        type="button"
        className="log-time"
        title={`${formatTime(toMs(row.ts_ns))}; click for the second around it`}
        onClick={() => setWindow({ from: t - 5e8, to: t + 5e8 })}
      >
        {formatElapsed(t, 1e6)}
      </button>
      <span className={`log-level level-${row.level}`}>{row.level === "" ? row.stream : row.level}</span>
      {row.worker === "" ? null : <span className="muted log-worker">{row.worker}</span>}
      {row.step === null ? null : <span className="muted">step {row.step}</span>}
      <span className="log-msg">
        {row.logger === "" ? null : <span className="muted">{row.logger}: </span>}
        {row.msg}
        {row.fields === "" ? null : <span className="muted"> {row.fields}</span>}
      </span>
    </div>
  );
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
