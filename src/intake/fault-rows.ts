// Faults as rows: everything that could not be understood is kept with its bytes, its reason and its place.

import { createHash } from "node:crypto";
import { blastOf, type Fault } from "#model/fault.ts";
import type { GroupName } from "#model/names.ts";
import { createRows, type Rows } from "#model/tables.ts";
import type { ArrivedAt } from "./input.ts";

export interface FaultContext extends Pick<ArrivedAt, "workspace" | "transport" | "receivedNs" | "position"> {
  /** '' when the run is not known. */
  readonly groupKey: GroupName;
  readonly protocol: string;
}

/** Faults keep at most this much of their bytes; the length of the rest stands in the detail. */
const rawBytesMax = 1024 * 1024;

/** SHA-256 of (code, raw, place): the same fault found again is the same row. */
export function faultId(fault: Fault): string {
  const hash = createHash("sha256").update(fault.code).update("\0").update(JSON.stringify(fault.place)).update("\0");
  return hash.update(fault.raw).digest("hex").slice(0, 32);
}

export function toFaultRows(faults: readonly Fault[], context: FaultContext): Rows<"faults"> {
  const rows = createRows("faults");
  for (const [at, fault] of faults.entries()) pushFault(rows, fault, faultId(fault), context, at);
  return rows;
}

/** `at` is the fault's place among the rows of its journal record. */
export function pushFault(rows: Rows<"faults">, fault: Fault, id: string, context: FaultContext, at: number): void {
  rows.group_key.push(context.groupKey);
  rows.workspace.push(context.workspace);
  rows.fault_id.push(id);
  rows.code.push(fault.code);
  rows.blast.push(blastOf(fault.code));
  rows.protocol.push(context.protocol);
  rows.transport.push(context.transport);
  const cut = fault.raw.length > rawBytesMax;
  rows.detail.push(
    cut ? `${fault.detail} (${fault.raw.length} bytes, the first ${rawBytesMax} are kept)` : fault.detail,
  );
  rows.place.push(JSON.stringify(fault.place));
  rows.received_ns.pushBigInt(context.receivedNs);
  rows.jpos.pushNumber(context.position);
  rows.jrow.push(at);
  rows.raw.pushBytes(cut ? fault.raw.subarray(0, rawBytesMax) : fault.raw);
}
