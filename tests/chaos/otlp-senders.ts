// Exporters of OpenTelemetry: spans, points and log records in turn, in JSON or in protobuf.

import { setTimeout as sleep } from "node:timers/promises";
import * as fixture from "#wire/otlp/fixture.testing.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import { deliver, type Field, hex } from "./deliver.ts";
import { otlpRun, type RecordKind } from "./ledger.ts";

interface Numbered {
  readonly id: string;
  readonly number: number;
}

interface Export {
  readonly signal: Signal;
  readonly kind: RecordKind;
  /** A request with one record for each. */
  toRequest(records: readonly Numbered[], resource: typeof fixture.someResource): object;
}

const timeOf = (number: number): string => String(1_794_710_396_000_000_000n + BigInt(number) * 1_000_000n);
const stepOf = (number: number): object[] => fixture.toList({ step: BigInt(number) });

const exports: readonly Export[] = [
  {
    signal: "traces",
    kind: "otlpSpans",
    toRequest: (records, resource) =>
      fixture.tracesOf(
        records.map(({ id, number }) => ({
          ...{ traceId: id, spanId: id.slice(16), name: id, kind: 1, attributes: stepOf(number) },
          ...{ startTimeUnixNano: timeOf(number), endTimeUnixNano: timeOf(number + 1) },
        })),
        resource,
      ),
  },
  {
    signal: "metrics",
    kind: "otlpPoints",
    toRequest: (records, resource) =>
      fixture.metricsOf(
        // The description is what tells the points of one series apart.
        records.map(({ id, number }) => {
          const point = { timeUnixNano: timeOf(number), asDouble: number, attributes: stepOf(number) };
          return { name: "loss", description: id, gauge: { dataPoints: [point] } };
        }),
        resource,
      ),
  },
  {
    signal: "logs",
    kind: "otlpLogs",
    toRequest: (records, resource) =>
      fixture.logsOf(
        records.map(({ id, number }) => ({
          ...{ timeUnixNano: timeOf(number), severityNumber: 9, body: { stringValue: id }, attributes: stepOf(number) },
        })),
        resource,
      ),
  },
];

/** Requests of one service, every fifth of them sent twice. */
export async function sendExports(field: Field, encoding: "json" | "protobuf"): Promise<void> {
  const { ledger, stopped, pauseMs } = field;
  const resource = { "service.name": "chaos", "tributary.run.id": otlpRun + encoding };
  for (let at = 0; !stopped.aborted; at++) {
    const { signal, kind, toRequest } = exports[at % exports.length] as Export;
    const records = Array.from({ length: 20 }, (_, n) => ({ id: hex(), number: at * 20 + n }));
    for (const { id, number } of records) ledger.send(kind, id, number);
    const request = toRequest(records, resource);
    const isJson = encoding === "json";
    const body = isJson ? Buffer.from(JSON.stringify(request)) : fixture.toProtobuf(signal, request);
    const headers = { "content-type": isJson ? "application/json" : "application/x-protobuf" };
    for (let copy = at % 5 === 0 ? 2 : 1; copy > 0; copy--)
      if (await deliver(field, `/v1/otlp/v1/${signal}`, body, headers))
        ledger.acknowledge(
          kind,
          records.map(({ id }) => id),
        );
    await sleep(pauseMs);
  }
}
