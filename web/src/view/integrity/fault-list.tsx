// Faults: a plain sentence each, with the bytes that could not be understood.

import { useState } from "react";
import type { FaultRow } from "#api/contract/record.ts";
import { urlOf } from "../../data/client.ts";
import { Icon } from "../../part/icon.tsx";
import { When } from "../../part/when.tsx";
import { formatBytes } from "../../text/format-number.ts";
import { toHexRows } from "../../text/hex-rows.ts";

export function FaultList({ faults }: { readonly faults: readonly FaultRow[] }) {
  if (faults.length === 0) {
    return (
      <p className="panel-body badge status-completed">
        <Icon name="check" size={14} /> Everything that arrived was understood.
      </p>
    );
  }
  return (
    <ul>
      {faults.map((fault) => (
        <FaultItem key={fault.id} fault={fault} />
      ))}
    </ul>
  );
}

function FaultItem({ fault }: { readonly fault: FaultRow }) {
  const [open, setOpen] = useState(false);
  const place = Object.entries(fault.place)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
  return (
    <li className="fault">
      <button type="button" className="row fault-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} size={12} />
        <code className="status-failed">{fault.code}</code>
        <span className="grow clip">
          {fault.means} <span className="muted">{fault.detail}</span>
        </span>
        <span className="muted">
          {fault.protocol} {fault.transport}
        </span>
        <When ns={fault.received_ns} />
      </button>
      {open ? (
        <div className="fault-body stack">
          <p>{fault.hint}</p>
          <p className="muted">
            spoils the {fault.blast}
            {place === "" ? "" : `; at ${place}`}; {formatBytes(fault.raw_bytes)}
          </p>
          <pre className="json">{toHexRows(fault.raw_base64, 512).join("\n")}</pre>
          <a href={urlOf("faultRaw", { params: { fault: fault.id } })} download>
            all bytes
          </a>
        </div>
      ) : null}
    </li>
  );
}
