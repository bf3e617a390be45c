// The log: by level, text and worker, within the shared window or from the pinned moment on, growing as lines arrive,
// following when asked.

import { useState } from "react";
import { useRunClock } from "../../clock/run-clock.tsx";
import type { TimeWindow } from "../../clock/window.ts";
import { Button } from "../../part/button.tsx";
import { CommandLine, Empty, Loading, PageProblem } from "../../part/notice.tsx";
import { VirtualList } from "../../part/virtual-list.tsx";
import { formatCount } from "../../text/format-number.ts";
import { formatElapsed } from "../../text/format-time.ts";
import { useOwnCommand } from "../start/own-command.ts";
import { LogBar } from "./log-bar.tsx";
import { LogLine } from "./log-line.tsx";
import "./logs.css";
import { useGutter } from "./use-gutter.ts";
import { useLog } from "./use-log.ts";
import { useLogSearch } from "./use-log-search.ts";

export function LogsView() {
  const { run, startNs, pin, setPin } = useRunClock();
  // A moment that is pinned on a line here is where one reads already: the log does not start over at it.
  const [ownPin, setOwnPin] = useState<TimeWindow | null>(null);
  const isOwn = pin !== null && pin.from === ownPin?.from && pin.to === ownPin.to;
  const begin = isOwn ? null : pin;
  const search = useLogSearch(begin);
  const { from, q } = search;
  const [follow, setFollow] = useState(run.status === "running" && from === "end");
  const log = useLog(from, search.filter, follow);
  const { pages, rows } = log;
  const gutter = useGutter();
  const [seen, setSeen] = useState(0);
  const below = follow || from === "start" ? 0 : Math.max(0, log.arrived - seen);
  const leaveEnd = () => {
    if (!follow) return;
    setSeen(log.arrived);
    setFollow(false);
  };
  const pinAt = (t: number) => {
    const moment = { from: t - 1, to: t };
    setOwnPin(moment);
    setPin({ ...moment, of: "" });
  };
  const stepped = rows.some((row) => row.step !== null);
  return (
    <>
      <LogBar
        search={search}
        levels={log.levels}
        follow={follow}
        onFollow={(next) => {
          setFollow(next);
          setSeen(log.arrived);
        }}
      />
      {begin === null ? null : <PinnedFrom pin={begin} />}
      {pages.error === null ? null : <PageProblem error={pages.error} retry={() => void pages.refetch()} />}
      {log.asked && rows.length === 0 ? (
        <NoLogs any={run.counts.logs > 0} />
      ) : !log.asked && pages.error === null ? (
        <Loading rows={12} />
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
          {(row) => <LogLine row={row} startNs={startNs} gutter={gutter} search={q} stepped={stepped} onPin={pinAt} />}
        </VirtualList>
      )}
      {below === 0 ? null : (
        <button type="button" className="row news log-news" onClick={() => setFollow(true)}>
          {formatCount(below)} new {below === 1 ? "line" : "lines"} below — follow
        </button>
      )}
    </>
  );
}

/** Why the log does not begin at its start. */
function PinnedFrom({ pin }: { readonly pin: TimeWindow }) {
  const { setPin } = useRunClock();
  return (
    <p className="row small log-pinned no-print">
      <span className="muted">from the pinned moment, {formatElapsed(pin.to, 1e6)}, on</span>
      <Button look="quiet small" onClick={() => setPin(null)}>
        show all
      </Button>
    </p>
  );
}

function NoLogs({ any }: { readonly any: boolean }) {
  const runLine = useOwnCommand("run -- python train.py");
  if (any) return <Empty title="No line matches in this window." />;
  return (
    <Empty title="No logs yet.">
      <p>XTrack logs appear by themselves. To keep a program’s output too:</p>
      <CommandLine text={runLine} />
    </Empty>
  );
}
