// Everything the run received, in order of arrival, as it came.

import { useState } from "react";
import type { EventRow } from "#api/contract/record.ts";
import { defined } from "../../app/search.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { usePages } from "../../data/use-pages.ts";
import { Select, TextField } from "../../part/field.tsx";
import { Icon } from "../../part/icon.tsx";
import { Empty, Loading, PageProblem } from "../../part/notice.tsx";
import { JsonView, WholeRecord } from "../../part/record.tsx";
import { VirtualList } from "../../part/virtual-list.tsx";
import { formatCount } from "../../text/format-number.ts";
import { formatElapsed, toOffsetNs } from "../../text/format-time.ts";
import "../logs/logs.css";

export function Events() {
  const { run, query: window, startNs } = useRunClock();
  const [search, setSearch] = useState("");
  const [type, setType] = useState("");
  const query = defined({
    ...window,
    q: search === "" ? undefined : search,
    type: type === "" ? undefined : [type],
    limit: 300,
  });
  const { pages, rows, first, more } = usePages("events", { params: { id: run.id }, query }, (answer) => answer.events);
  const types = Object.entries(first?.types ?? {}).map(
    ([each, count]) => [each, `${each} (${formatCount(count)})`] as const,
  );
  return (
    <>
      <div className="row bar wrap no-print">
        <TextField data-search label="Find in the text" value={search} onChange={setSearch} style={{ width: 220 }} />
        <Select label="Type" value={type} options={[["", "all types"], ...types]} onChange={setType} />
      </div>
      {pages.error === null ? null : <PageProblem error={pages.error} retry={() => void pages.refetch()} />}
      {first === undefined && pages.error === null ? (
        <Loading rows={12} />
      ) : first !== undefined && rows.length === 0 ? (
        <Empty title="No event matches in this window." />
      ) : (
        <VirtualList
          rows={rows}
          keyOf={(row) => row.id}
          rowPx={22}
          label="Events"
          more={pages.hasNextPage}
          onEnd={more}
        >
          {(row) => <Event run={run.id} row={row} startNs={startNs} />}
        </VirtualList>
      )}
    </>
  );
}

function Event({ run, row, startNs }: { readonly run: string; readonly row: EventRow; readonly startNs: string }) {
  const [open, setOpen] = useState(false);
  return (
    <div>
      <button
        type="button"
        className="mono log-line"
        style={{ width: "100%", background: "none" }}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name={open ? "down" : "right"} size={12} />
        <span className="muted num" style={{ width: 84, flex: "none" }}>
          {formatElapsed(toOffsetNs(row.ts_ns, startNs), 1e6)}
        </span>
        <span style={{ width: 110, flex: "none" }}>{row.type}</span>
        <span className="muted" style={{ width: 70, flex: "none" }}>
          {row.seq === null ? row.protocol : `#${row.seq}`}
        </span>
        {row.flags.map((flag) => (
          <span key={flag} className="status-warn">
            {flag}
          </span>
        ))}
        <span className="clip grow muted event-text">{row.text}</span>
      </button>
      {open ? (
        <div style={{ padding: "0 16px 8px 44px" }}>
          <p className="muted">
            {row.cut_from !== undefined
              ? "its beginning; "
              : row.rebuilt
                ? "rebuilt from its columns, equal in every value"
                : "the text as it came"}
            <WholeRecord run={run} record={row.id} bytes={row.cut_from} />
          </p>
          <JsonView text={row.text} />
        </div>
      ) : null}
    </div>
  );
}
