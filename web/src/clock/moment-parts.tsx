// What happened in a moment besides its values: spans and nodes, tensors, lines; and the ways that lead on from it.

import { useTheme } from "../app/theme.ts";
import { spanColour } from "../chart/span-colours.ts";
import { useApi } from "../data/use-api.ts";
import { Button } from "../part/button.tsx";
import { Name } from "../part/name.tsx";
import { RunLink } from "../part/run-link.tsx";
import { parseAnsi } from "../text/ansi.ts";
import { formatDuration, formatElapsed, toOffsetNs } from "../text/format-time.ts";
import { useRunApi, useRunClock } from "./run-clock.tsx";
import { formatPin, formatWindow, type TimeWindow } from "./window.ts";

export function MomentSpans({ moment }: { readonly moment: TimeWindow }) {
  const { run, startNs } = useRunClock();
  const theme = useTheme();
  const named = formatWindow(moment, startNs);
  const has = run.counts.spans + run.counts.nodes > 0;
  const query = { from_ns: named.from, to_ns: named.to };
  const spans = useRunApi("spanSummary", { query }, { enabled: has, keep: true, staleMs: 60_000 });
  const rows = [...(spans.data?.rows ?? [])].sort((a, b) => Number(b.wall_ns) - Number(a.wall_ns));
  return (
    <div className="row wrap moment-spans">
      {has ? null : <span className="muted">no spans in this run</span>}
      {spans.data !== undefined && rows.length === 0 ? <span className="muted">no span ran</span> : null}
      {rows.slice(0, 8).map((row) => (
        <span key={`${row.name} ${row.rank}`} className="chip" title={`${row.count} × ${row.name} in this moment`}>
          <i className="swatch" style={{ background: spanColour(run.id, row.name, theme) }} />
          <Name>{row.name}</Name> {formatDuration(Number(row.wall_ns))}
        </span>
      ))}
    </div>
  );
}

export function MomentLogs({ moment }: { readonly moment: TimeWindow }) {
  const { run, startNs } = useRunClock();
  const { from, to } = formatWindow({ from: moment.from, to: moment.to + 1 }, startNs);
  const logs = useRunApi(
    "logs",
    { query: { from_ns: from, to_ns: to, limit: 3, order: "desc", chars: 2_000 } },
    { enabled: run.counts.logs > 0, keep: true, staleMs: 60_000 },
  );
  const lines = logs.data?.logs ?? [];
  return (
    <ol className="moment-logs">
      {logs.data !== undefined && lines.length === 0 ? <li className="muted">no line was logged</li> : null}
      {lines.toReversed().map((line) => (
        <li key={line.id} className="clip" title={parseAnsi(line.msg.slice(0, 2_000)).text}>
          <span className={`level-${line.level}`}>{line.level}</span> {parseAnsi(line.msg.slice(0, 400)).text}
        </li>
      ))}
    </ol>
  );
}

/** Links carry the moment with them: pinned, and in the timeline with some room around it. */
export function MomentGo({ moment, of }: { readonly moment: TimeWindow; readonly of: string }) {
  const { run, startNs, setWindow, pin, setPin } = useRunClock();
  const pinned = { pin: formatPin(moment, startNs), ...(of === "" ? {} : { of }) };
  const room = (moment.to - moment.from) * 1.5;
  const near = formatWindow({ from: moment.from - room, to: moment.to + room }, startNs);
  return (
    <span className="row wrap moment-go">
      <Button
        look="small"
        icon="pin"
        aria-pressed={pin !== null}
        title={pin === null ? "stay on this moment" : "free it (Esc)"}
        onClick={() => setPin(pin === null ? { ...moment, of } : null)}
      >
        {pin === null ? "pin" : "pinned"}
      </Button>
      <Button look="quiet small" onClick={() => setWindow(moment)}>
        make it the window
      </Button>
      {run.counts.spans + run.counts.nodes > 0 ? (
        <RunLink id={run.id} view="timeline" search={{ ...near, ...pinned }} />
      ) : null}
      {run.counts.snapshots > 0 ? <TensorsLink moment={moment} search={pinned} /> : null}
      {run.counts.nodes > 0 ? <RunLink id={run.id} view="pipeline" search={pinned} /> : null}
      {run.counts.logs > 0 ? <RunLink id={run.id} view="logs" search={pinned} /> : null}
    </span>
  );
}

/** To the snapshot that was taken next: the tensors as the moment left them. */
function TensorsLink({ moment, search }: { readonly moment: TimeWindow; readonly search: object }) {
  const { run, startNs } = useRunClock();
  const all = useRunApi("snapshots", {}, { staleMs: 60_000 });
  const tensor = all.data?.tensors[0]?.tensor;
  const one = useApi(
    "tensor",
    { params: { id: run.id, tensor: tensor ?? "-" } },
    { enabled: tensor !== undefined, staleMs: 60_000 },
  );
  const rows = one.data?.rows ?? [];
  const next = rows.find((row) => toOffsetNs(row.ts_ns, startNs) >= moment.to) ?? rows.at(-1);
  const label = next === undefined ? "" : next.epoch !== null ? ` epoch ${next.epoch}` : ` step ${next.step ?? "?"}`;
  const title = next === undefined ? "" : `snapshot at ${formatElapsed(toOffsetNs(next.ts_ns, startNs), 1e6)}`;
  return (
    <RunLink id={run.id} view="tensors" search={search} title={title}>
      tensors{label}
    </RunLink>
  );
}
