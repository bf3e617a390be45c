// One span: its times, where it stands, its marks and attributes.

import { useRunClock } from "../../clock/run-clock.tsx";
import { useApi } from "../../data/use-api.ts";
import { CopyButton } from "../../part/copy.tsx";
import { Icon } from "../../part/icon.tsx";
import { JsonView } from "../../part/json-view.tsx";
import { Answer } from "../../part/notice.tsx";
import { formatBytes, formatNumber, toNumber } from "../../text/format-number.ts";
import { formatDuration, formatElapsed, toOffsetNs } from "../../text/format-time.ts";
import { toModelCall } from "./model-call.ts";

export function SpanDetails({
  id,
  onSelect,
  onClose,
}: {
  readonly id: string;
  readonly onSelect: (id: string) => void;
  readonly onClose: () => void;
}) {
  const { run, startNs, setWindow, pinCursor } = useRunClock();
  const span = useApi("span", { params: { id: run.id, span: id } });
  return (
    <aside className="span-details" aria-label="Span">
      <Answer of={span} rows={5}>
        {(data) => {
          const start = toOffsetNs(data.start_ns, startNs);
          const wall = data.end_ns === null ? null : toOffsetNs(data.end_ns, data.start_ns);
          return (
            <>
              <header className="row">
                <h2 className="clip grow" title={data.name}>
                  {data.name} {data.index}
                </h2>
                <button type="button" className="button quiet small icon" aria-label="Close" onClick={onClose}>
                  <Icon name="cross" size={12} />
                </button>
              </header>
              {data.ancestors.length === 0 ? null : (
                <p className="ancestors">
                  {data.ancestors_cut ? <span className="muted">… more above</span> : null}
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
                <dt>wall</dt>
                <dd>{wall === null ? "no end arrived" : formatDuration(wall)}</dd>
                {data.gpu_ns === null ? null : (
                  <Fact name="GPU" value={`${formatDuration(Number(data.gpu_ns))}${share(data.gpu_ns, wall)}`} />
                )}
                {data.cpu_ns === null ? null : (
                  <Fact name="CPU" value={`${formatDuration(Number(data.cpu_ns))}${share(data.cpu_ns, wall)}`} />
                )}
                {data.memory_peak_bytes === null ? null : (
                  <Fact name="peak memory" value={formatBytes(Number(data.memory_peak_bytes))} />
                )}
                {toModelCall(data.attrs).map(([name, value]) => (
                  <Fact key={name} name={name} value={value} />
                ))}
                <Fact name="starts" value={formatElapsed(start, 1e5)} />
                <Fact name="children" value={String(data.children)} />
                {data.rank === null ? null : <Fact name="rank" value={String(data.rank)} />}
                {data.thread === null ? null : <Fact name="thread" value={data.thread} />}
                <dt>id</dt>
                <dd className="row">
                  <code className="clip">{data.id}</code>
                  <CopyButton text={data.id} label="copy the id" />
                </dd>
              </dl>
              <div className="row">
                {wall === null || wall <= 0 ? null : (
                  <button
                    type="button"
                    className="button small"
                    onClick={() => setWindow({ from: start, to: start + wall })}
                  >
                    make it the window (M)
                  </button>
                )}
                <button
                  type="button"
                  className="button small"
                  onClick={() => pinCursor({ t: start, from: "timeline" })}
                >
                  pin its start
                </button>
              </div>
              {data.marks.length === 0 ? null : (
                <>
                  <h3>
                    marks
                    {data.mark_count > data.marks.length
                      ? `, the first ${data.marks.length} of ${data.mark_count}`
                      : ""}
                  </h3>
                  <table className="table">
                    <tbody>
                      {data.marks.map((mark) => {
                        const number = toNumber(mark.value);
                        return (
                          <tr key={mark.id}>
                            <td>{mark.name}</td>
                            <td className="num" title={mark.text}>
                              {number === null ? mark.text : formatNumber(number)}
                            </td>
                            <td className="num muted">{formatElapsed(toOffsetNs(mark.ts_ns, startNs), 1e6)}</td>
                          </tr>
                        );
                      })}
                    </tbody>
                  </table>
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
    </aside>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function share(part: string, wall: number | null): string {
  return wall === null || wall <= 0 ? "" : ` (${((Number(part) / wall) * 100).toFixed(0)} % of wall)`;
}
