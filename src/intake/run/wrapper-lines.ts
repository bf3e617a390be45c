// What `tributary run` reports of its program: its start, its exit, and samples of the machine. One JSON object a
// line; `n` counts them and is, with the wrapper, a record's identity.
//
//   {"n": 0, "type": "wrapper_start", "ts_ns": "…", "payload": {"name": …, "command": […], "host": …}}
//   {"n": 7, "type": "sample", "ts_ns": "…", "payload": {"system/cpu_percent": 93.5}}
//   {"n": 9, "type": "wrapper_exit", "ts_ns": "…", "payload": {"code": 0, "signal": null}}

import type { SenderNs, ServerNs } from "#base/clock.ts";
import { toFaultParts } from "#intake/fault-rows.ts";
import type { Input } from "#intake/input.ts";
import type { InputKind } from "#intake/input-kind.ts";
import type { AnyTablePart } from "#model/batch.ts";
import type { Fault } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import { createRows, type Rows } from "#model/tables.ts";
import { splitLines } from "./log-lines.ts";
import { takeFresh, wrapperKey } from "./wrapper-group.ts";

/** What `tributary run` reports of its program: whole JSON lines. */
export interface WrapperLinesInput extends Input {
  readonly kind: "wrapper_lines";
  readonly wrapperId: string;
}

export const wrapperLineInputs: InputKind<WrapperLinesInput> = {
  kind: "wrapper_lines",
  decode(input) {
    const groupKey = wrapperKey(input);
    const { records, faults } = decodeWrapperLines(input.body);
    return {
      prepare: (state) => state.prepareGroups([groupKey]),
      apply({ groups }, _, position) {
        const { wrapperId, receivedNs } = input;
        const state = groups.note(groupKey, { ...input, protocol: "run", ownId: wrapperId }, position);
        const fresh = takeFresh(groups.linesOf(groupKey, position), records, ({ n }) => ["wrapper", n]);
        const place = { groupKey, receivedNs, position };
        const placed = faults.map((fault) => ({ fault, groupKey }));
        const parts: AnyTablePart[] = [
          { table: "events", rows: toWrapperEvents(fresh, place), dropped: null },
          { table: "metrics", rows: toSampleRows(fresh, place), dropped: null },
          ...toFaultParts(placed, "run", { ...input, position }, null),
        ];
        return {
          parts: parts.filter(({ rows }) => rows.group_key.length > 0),
          state,
          accepted: fresh.length,
          duplicates: records.length - fresh.length,
          faults,
        };
      },
    };
  },
};

interface WrapperRecord {
  readonly n: number;
  readonly type: string;
  readonly tsNs: SenderNs;
  readonly payload: Readonly<Record<string, unknown>>;
}

const textDecoder = new TextDecoder();

function decodeWrapperLines(body: Uint8Array) {
  const records: WrapperRecord[] = [];
  const faults = new FaultList<Fault>();
  for (const [at, { bytes }] of splitLines(body, 0).entries()) {
    if (bytes.length === 0) continue;
    const record = parseRecord(textDecoder.decode(bytes));
    if (record) records.push(record);
    else {
      const detail = "A record of `tributary run` has no whole number n, type, ts_ns and payload.";
      faults.add(() => ({ code: "line_not_object", detail, place: { line: at + 1 }, raw: bytes.slice() }));
    }
  }
  return { records, faults: faults.toArray(toRestFault) };
}

/** Our own wrapper writes these lines, so plain JSON is enough: times are text, counts are small. */
function parseRecord(text: string): WrapperRecord | undefined {
  let value: { n?: unknown; type?: unknown; ts_ns?: unknown; payload?: unknown } | null;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { n, type, ts_ns: tsNs, payload } = value;
  if (!Number.isSafeInteger(n) || typeof type !== "string" || typeof payload !== "object" || payload === null) {
    return undefined;
  }
  if (typeof tsNs !== "string" || !/^\d{1,19}$/.test(tsNs)) return undefined;
  return { n: n as number, type, tsNs: BigInt(tsNs), payload: payload as Record<string, unknown> };
}

interface WrapperPlace {
  readonly groupKey: string;
  readonly receivedNs: ServerNs;
  readonly position: number;
}

/** Everything but samples, as events. */
function toWrapperEvents(records: readonly WrapperRecord[], place: WrapperPlace): Rows<"events"> {
  const rows = createRows("events");
  for (const { n, type, tsNs, payload } of records) {
    if (type === "sample") continue;
    rows.group_key.push(place.groupKey);
    rows.protocol.push("run");
    rows.type.push(type);
    rows.worker.push("");
    rows.ts_ns.pushBigInt(tsNs);
    rows.seq.pushNumber(n);
    rows.event_id.push("");
    rows.payload.push(JSON.stringify(payload));
    pushArrival(rows, place, n);
  }
  return rows;
}

/** Samples, one metric row for each number in them. */
function toSampleRows(records: readonly WrapperRecord[], place: WrapperPlace): Rows<"metrics"> {
  const rows = createRows("metrics");
  for (const { n, type, tsNs, payload } of records) {
    if (type !== "sample") continue;
    for (const [at, [key, value]] of Object.entries(payload).entries()) {
      if (typeof value !== "number") continue;
      rows.group_key.push(place.groupKey);
      rows.key.push(key);
      rows.worker.push("");
      rows.phase.push("");
      rows.step.pushNull();
      rows.step_text.push("");
      rows.epoch.pushNull();
      rows.ts_ns.pushBigInt(tsNs);
      rows.value.present().push(value);
      rows.value_text.push("");
      rows.source.push("system");
      rows.seq.pushNumber(n);
      rows.entry.push(at);
      rows.mark_id.push("");
      rows.span_id.push("");
      rows.ctx.push("");
      pushArrival(rows, place, n);
    }
  }
  return rows;
}

function pushArrival(rows: Rows<"events"> | Rows<"metrics">, { receivedNs, position }: WrapperPlace, n: number): void {
  rows.received_ns.pushBigInt(receivedNs);
  rows.jpos.pushNumber(position);
  rows.jrow.push(n >>> 0);
  rows.flags.push(0);
  rows.extra.push("");
  rows.raw.push("");
}
