// An OTLP request as an input: its bytes in protobuf, their signal, and what its headers say about the run.

import type { Arrival, Input } from "#intake/input.ts";
import type { Decoded, DecodeLimits, InputKind } from "#intake/input-kind.ts";
import { keepFault } from "#intake/refused.ts";
import type { Fault } from "#model/fault.ts";
import { type DecodedExport, decodeExport } from "#wire/otlp/decode.ts";
import { toRoleOf } from "#wire/otlp/meaning.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import { applyExport, placeFaults } from "./apply.ts";
import { Placement } from "./placement.ts";

export interface OtlpExportInput extends Input {
  readonly kind: "otlp_export";
  readonly signal: Signal;
  /** `x-mlflow-run-id`, '' when it is not there. */
  readonly mlflowRun: string;
}

/** One for each list of names, so that all requests share what was learnt about them. */
const rolesOf = new Map<string, ReturnType<typeof toRoleOf>>();

function roleOf(steps: readonly string[]): ReturnType<typeof toRoleOf> {
  const key = steps.join("\n");
  let role = rolesOf.get(key);
  if (role === undefined) {
    role = toRoleOf(steps);
    rolesOf.set(key, role);
  }
  return role;
}

export const exportInputs: InputKind<OtlpExportInput> = { kind: "otlp_export", decode: decodeRequest };

/** Requests are cut into smaller ones, so only a single large record exceeds this. */
const appliedAtOnce = 1024 * 1024;

/** The records of a request, and what could not be read, which the door reports to the sender. */
export interface DecodedRequest extends Decoded {
  readonly rejected: number;
  readonly faults: readonly Fault[];
}

export function decodeRequest(
  { signal, body, mlflowRun, faultsMax }: OtlpExportInput,
  { stepNames = [] }: Pick<DecodeLimits, "stepNames">,
): DecodedRequest {
  const result = decodeExport(signal, body, { roleOf: roleOf(stepNames), faultsMax });
  if (!result.ok)
    return {
      ...{ rejected: 0, faults: [result.refusal] },
      prepare: () => null,
      apply: (_, arrival, position) => keepFault(result.refusal, "otlp", arrival, position),
    };
  const { request } = result;
  let placed: Placement | undefined;
  const place = (arrival: Arrival): Placement => {
    placed ??= placeRecords(request, arrival, mlflowRun);
    return placed;
  };
  return {
    ...{ rejected: request.rejected, faults: request.faults },
    isLong: body.length > appliedAtOnce,
    prepare: (state, arrival) =>
      state.prepareGroups(place(arrival).groups.map(({ groupKey }) => groupKey)) ??
      state.prepareFaults(arrival.workspace, request, placeFaults(request, place(arrival))),
    apply: (state, arrival, position) => applyExport(state, request, place(arrival), { ...arrival, position }),
  };
}

function placeRecords({ origins, columns, signal }: DecodedExport, arrival: Arrival, mlflowRun: string): Placement {
  if (signal === "traces") return new Placement(origins, columns.origin, columns.rows.start_ns, arrival, mlflowRun);
  // A log record without any time gets its time of arrival.
  const cameNs: bigint = arrival.receivedNs;
  const { ts_ns } = columns.rows;
  for (let row = 0; row < ts_ns.length; row++) if (ts_ns.at(row) === 0n) ts_ns.setBigInt(row, cameNs);
  return new Placement(origins, columns.origin, ts_ns, arrival, mlflowRun);
}
