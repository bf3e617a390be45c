// What was refused is kept as a fault with its bytes.

import type { Fault, FaultCode } from "#model/fault.ts";
import { createRows } from "#model/tables.ts";
import { type Applied, nothingApplied } from "./applied.ts";
import { faultId, pushFault } from "./fault-rows.ts";
import type { Arrival, Input } from "./input.ts";
import type { InputKind } from "./input-kind.ts";

export interface RefusedInput extends Input {
  readonly kind: "refused";
  readonly protocol: string;
  readonly code: string;
  readonly detail: string;
  /** JSON of the FaultPlace. */
  readonly place: string;
  /** Of a fault that was kept elsewhere before: its identity there and the group it belongs to. */
  readonly faultId?: string;
  readonly groupKey?: string;
}

export const refusedInputs: InputKind<RefusedInput> = {
  kind: "refused",
  decode({ code, detail, place, body: raw, protocol, groupKey, faultId: id }) {
    const fault: Fault = { code: code as FaultCode, detail, place: JSON.parse(place) as Fault["place"], raw };
    return {
      prepare: () => null,
      apply: (_, arrival, position) => keepFault(fault, protocol, arrival, position, { id, groupKey }),
    };
  },
};

export function isRefused(input: Input): input is RefusedInput {
  return input.kind === refusedInputs.kind;
}

export function keepFault(
  fault: Fault,
  protocol: string,
  arrival: Arrival,
  position: number,
  {
    id = faultId(fault),
    groupKey = "",
  }: { readonly id?: string | undefined; readonly groupKey?: string | undefined } = {},
): Applied {
  const rows = createRows("faults");
  pushFault(rows, { fault, groupKey }, id, protocol, { ...arrival, position });
  return { ...nothingApplied, parts: [{ table: "faults", rows, dropped: null }], faults: [fault] };
}
