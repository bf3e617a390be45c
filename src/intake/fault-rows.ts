// Faults as rows: whatever could not be understood is kept with its bytes, its reason and its place.

import { createHash } from "node:crypto";
import type { AnyTablePart } from "#model/batch.ts";
import { blastOf, type Fault } from "#model/fault.ts";
import type { GroupName } from "#model/names.ts";
import { createRows, type Rows } from "#model/tables.ts";
import type { ArrivedAt } from "./input.ts";
import type { RecentIds } from "./recent-ids.ts";

/** A fault and the group it belongs to; '' when that is not known. */
export interface PlacedFault {
  readonly fault: Fault;
  readonly groupKey: GroupName;
  /** Its place among the rows of its journal record; without it, its place among the faults. */
  readonly at?: number;
}

type FaultArrival = Pick<ArrivedAt, "workspace" | "transport" | "receivedNs" | "position">;

/** A fault keeps at most this much of its bytes; its detail then says how many there were. */
const rawBytesMax = 1024 * 1024;

/** SHA-256 of (code, raw, place): the same fault found again is the same row. */
export function faultId(fault: Fault): string {
  const hash = createHash("sha256").update(fault.code).update("\0").update(JSON.stringify(fault.place)).update("\0");
  return hash.update(fault.raw).digest("hex").slice(0, 32);
}

/** With `known`, faults that are in it are left out and the others added, so that a fault that is sent again is stored once. */
export function toFaultParts(
  faults: readonly PlacedFault[],
  protocol: string,
  arrival: FaultArrival,
  known: RecentIds | null,
): AnyTablePart[] {
  if (faults.length === 0) return [];
  const rows = createRows("faults");
  for (const placed of faults) {
    const id = faultId(placed.fault);
    if (known === null || known.add(id, arrival.workspace)) pushFault(rows, placed, id, protocol, arrival);
  }
  return rows.code.length === 0 ? [] : [{ table: "faults", rows, dropped: null }];
}

export function pushFault(
  rows: Rows<"faults">,
  { fault, groupKey, at = rows.code.length }: PlacedFault,
  id: string,
  protocol: string,
  arrival: FaultArrival,
): void {
  rows.group_key.push(groupKey);
  rows.workspace.push(arrival.workspace);
  rows.fault_id.push(id);
  rows.code.push(fault.code);
  rows.blast.push(blastOf(fault.code));
  rows.protocol.push(protocol);
  rows.transport.push(arrival.transport);
  const cut = fault.raw.length > rawBytesMax;
  rows.detail.push(
    cut ? `${fault.detail} (${fault.raw.length} bytes, the first ${rawBytesMax} are kept)` : fault.detail,
  );
  rows.place.push(JSON.stringify(fault.place));
  rows.received_ns.pushBigInt(arrival.receivedNs);
  rows.jpos.pushNumber(arrival.position);
  rows.jrow.push(at);
  rows.raw.pushBytes(cut ? fault.raw.subarray(0, rawBytesMax) : fault.raw);
}
