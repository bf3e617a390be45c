// Runs as OTLP requests, each of one signal and small enough for any receiver.

import { encodeTexts } from "#archive/encode-texts.ts";
import { readInStretches } from "#archive/read-in-stretches.ts";
import { inRecords } from "#archive/record-text.ts";
import { inTurns } from "#base/turns.ts";
import { type FoundRun, groupKeysOf } from "#query/runs/find-run.ts";
import type { Store } from "#store/store.ts";
import { formatNearest } from "#wire/otlp/request-json.ts";
import { RequestBuilder } from "#wire/otlp/request-pieces.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import { OtlpConverter } from "./to-otlp.ts";

export interface OtlpRequest {
  readonly signal: Signal;
  /** In protobuf. */
  readonly body: Uint8Array;
}

/** Receivers take 4 MiB by gRPC and more by HTTP. */
const requestBytesMax = 1024 * 1024;

/** Everything of a run, in the order of arrival within each signal. */
export async function* exportRequests(store: Store, run: FoundRun): AsyncGenerator<OtlpRequest> {
  const groups = groupKeysOf(run);
  const converter = new OtlpConverter(run.runId);
  const builders = createBuilders();
  for await (const rows of readInStretches(store, groups)) yield* toRequests(() => converter, rows, builders);
  yield* finish(builders);
}

type Builders = Readonly<Record<Signal, RequestBuilder>>;

export function createBuilders(): Builders {
  return { traces: new RequestBuilder(), metrics: new RequestBuilder(), logs: new RequestBuilder() };
}

/** Yields requests that are full; the rest waits in the builders. */
export async function* toRequests(
  converterOf: (groupKey: string) => OtlpConverter,
  rows: Parameters<typeof inRecords>[0],
  builders: Builders,
): AsyncGenerator<OtlpRequest> {
  for await (const record of inRecords(rows))
    for (const { signal, origin, record: bytes } of converterOf(record[0].group_key).convert(record)) {
      const builder = builders[signal];
      builder.add(origin, bytes);
      if (builder.size >= requestBytesMax) yield { signal, body: builder.finish() };
    }
}

export function* finish(builders: Builders): Generator<OtlpRequest> {
  for (const signal of ["traces", "metrics", "logs"] as const)
    if (builders[signal].size > 0) yield { signal, body: builders[signal].finish() };
}

/** One request a line, as OpenTelemetry's collector reads them from a file. What JSON cannot say is left out. */
export async function* exportOtlpLines(store: Store, runs: Iterable<FoundRun>): AsyncGenerator<Uint8Array> {
  for (const run of runs)
    for await (const request of exportRequests(store, run))
      yield* encodeTexts([...(await inTurns(formatNearest(request.signal, request.body))), "\n"]);
}

/** The requests of one signal in protobuf, one after the other: together they are one. */
export async function* exportOtlpBytes(
  store: Store,
  runs: Iterable<FoundRun>,
  only: Signal,
): AsyncGenerator<Uint8Array> {
  for (const run of runs)
    for await (const request of exportRequests(store, run)) if (request.signal === only) yield request.body;
}
