// One span: its times, where it stands, its marks and attributes.

import type { SpanDetail } from "#api/contract/span.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { Refusal } from "../../data/client.ts";
import { useApi } from "../../data/use-api.ts";
import { Button } from "../../part/button.tsx";
import { Fact, IdFact } from "../../part/facts.tsx";
import { Answer } from "../../part/notice.tsx";
import { Details } from "../../part/panel.tsx";
import { JsonView } from "../../part/record.tsx";
import { Table } from "../../part/table.tsx";
import { formatBytes, formatNumber, toNumber } from "../../text/format-number.ts";
import { formatDuration, formatElapsed, toOffsetNs } from "../../text/format-time.ts";
import { toModelCall } from "./model-call.ts";

interface SpanDetailsProps {
  readonly id: string;
  readonly onSelect: (id: string) => void;
  readonly onClose: () => void;
}

export function SpanDetails({ id, onSelect, onClose }: SpanDetailsProps) {
  const { run, startNs, setWindow, pinCursor } = useRunClock();
  const span = useApi("span", { params: { id: run.id, span: id } });
  const { name = "", index } = span.data ?? {};
  // The timeline holds a place for a span that is known only as another one's parent.
  if (span.error instanceof Refusal && span.error.answer.code === "span_not_found")
    return (
      <Details label="Span" title="not arrived" onClose={onClose}>
        <p className="muted">
          Spans within it have come, but it has not: it is still open, its process ended without closing it, or its last
          batch stayed in the spool.
        </p>
        <dl className="facts">
          <IdFact id={id} />
        </dl>
      </Details>
    );
  return (
    <Details label="Span" title={`${name} ${index ?? ""}`} hint={name} onClose={onClose}>
      <Answer of={span} rows={5}>
        {(data) => {
          const start = toOffsetNs(data.start_ns, startNs);
          const wall = data.end_ns === null ? null : toOffsetNs(data.end_ns, data.start_ns);
          return (
            <>
              {data.ancestors.length === 0 ? null : (
                <p className="ancestors">
                  <span className="muted">{data.ancestors_cut ? "within … more above" : "within"}</span>
                  {data.ancestors.map((each) => (
                    <button
                      key={each.id}
                      type="button"
                      className="chip"
                      disabled={!each.arrived}
                      onClick={() => onSelect(each.id)}
                    >
                      {each.arrived ? `${each.name} ${each.index ?? ""}` : "not arrived"}
                    </button>
                  ))}
                </p>
              )}
              <dl className="facts">
                <Fact name="wall" value={wall === null ? "no end arrived" : formatDuration(wall)} />
                <Fact name="GPU" value={timeOf(data.gpu_ns, wall)} />
                <Fact name="CPU" value={timeOf(data.cpu_ns, wall)} />
                <Fact
                  name="peak memory"
                  value={data.memory_peak_bytes === null ? null : formatBytes(Number(data.memory_peak_bytes))}
                />
                {toModelCall(data.attrs).map(([name, value]) => (
                  <Fact key={name} name={name} value={value} />
                ))}
                <Fact name="starts" value={formatElapsed(start, 1e5)} />
                <Fact name="children" value={data.children} />
                <Fact name="rank" value={data.rank} />
                <Fact name="thread" value={data.thread} />
                <IdFact id={data.id} />
              </dl>
              <div className="row">
                {wall === null || wall <= 0 ? null : (
                  <Button look="small" onClick={() => setWindow({ from: start, to: start + wall })}>
                    make it the window (M)
                  </Button>
                )}
                <Button look="small" onClick={() => pinCursor({ t: start, from: "timeline" })}>
                  pin its start
                </Button>
              </div>
              {data.marks.length === 0 ? null : (
                <>
                  <h3>
                    marks
                    {data.mark_count > data.marks.length
                      ? `, the first ${data.marks.length} of ${data.mark_count}`
                      : ""}
                  </h3>
                  <Table
                    rows={data.marks}
                    keyOf={(mark) => mark.id}
                    columns={[
                      { cell: (mark) => mark.name },
                      { cell: (mark) => <span title={mark.text}>{markText(mark)}</span>, look: "num" },
                      { cell: (mark) => formatElapsed(toOffsetNs(mark.ts_ns, startNs), 1e6), look: "num muted" },
                    ]}
                  />
                </>
              )}
              {data.attrs === "{}" || data.attrs === "" ? null : (
                <>
                  <h3>attributes</h3>
                  <JsonView text={data.attrs} />
                </>
              )}
              {data.extra === "" ? null : (
                <>
                  <h3>other fields</h3>
                  <JsonView text={data.extra} />
                </>
              )}
            </>
          );
        }}
      </Answer>
    </Details>
  );
}

function markText({ value, text }: SpanDetail["marks"][number]): string {
  const number = toNumber(value);
  return number === null ? text : formatNumber(number);
}

/** With its share of the wall time. */
function timeOf(part: string | null, wall: number | null): string | null {
  if (part === null) return null;
  const share = wall === null || wall <= 0 ? "" : ` (${((Number(part) / wall) * 100).toFixed(0)} % of wall)`;
  return `${formatDuration(Number(part))}${share}`;
}
