// Bodies of about the largest size that is accepted, each of a different kind: many records, one text, one long list.

import { randomUUID } from "node:crypto";
import { toFrame } from "./xtrack-socket.ts";

export interface LargeBody {
  readonly name: string;
  /** What ends with an equals sign is followed by a number of each round's own. */
  readonly path: string;
  readonly type: string;
  make(): Buffer;
}

const mebibyte = 1024 * 1024;
const longText = "the quick brown fox 0123 ".repeat((60 * mebibyte) / 25);
const numbers = (separator: string): string => Array.from({ length: 5_000_000 }, (_, i) => i % 1e7).join(separator);

const event = (type: string, payload: string): Buffer =>
  toFrame(`{"v":1,"t":"${type}","m":{"seq":1,"ts":1790000000000000},"p":{"run_id":"${randomUUID()}",${payload}}}`);
const param = (value: string): Buffer => event("param", `"key":"k","value":${value}`);
const metrics = (count: number): Buffer =>
  event("metric_batch", `"step":3,"metrics":{${list(count, (i) => `"layer.${i}.norm":${(i * 0.37).toFixed(3)}`)}}`);
const list = (count: number, item: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => item(i)).join(",");

/** Batches of one process and key would be one run. */
let pid = 0;
const cirron = (spans: string): Buffer => {
  pid++;
  return Buffer.from(
    `{"schema_version":1,"sdk_version":"0.3.0","batch_id":"${randomUUID()}","created_ns":1,"spans":[${spans}],"marks":[],"snapshots":[]}`,
  );
};
const cirronSpan = (attrs: string, i = 0): string =>
  `{"id":"${randomUUID()}","name":"step","parent_id":null,"start_ns":${1790000000000000000n + BigInt(i)},"end_ns":1790000000100000000,"pid":${pid},"attrs":${attrs}}`;

const withUnknown = (record: string, value: string): string => withMembers(record, `"later":${value}`);
const withMembers = (record: string, members: string): string => `${record.slice(0, -1)},${members}}`;
const keys = (count: number): string => list(count, (i) => `"key.${i}":${i % 10}`);
/** An object in which a key comes twice, with a long list between. */
const twice = (): string => `{"k":1,"l":[${numbers(",")}],"k":2}`;
const cirronHistogram = (): Buffer => {
  const stats = `{"mean":0.5,"std":0.1,"min":0.0,"max":1.0,"norm":9.5,"histogram":{"bins":[${numbers(",")}],"counts":[1]}}`;
  const snapshot = `{"id":"${randomUUID()}","span_id":"s","tensor_name":"w","shape":[4],"dtype":"f32","mode":"stats","stats":${stats},"blob_uri":null,"ts_ns":1790000000000000000,"attrs":{}}`;
  return Buffer.from(cirron(cirronSpan("{}")).toString().replace('"snapshots":[]', `"snapshots":[${snapshot}]`));
};

const semantiva = (data: string): Buffer =>
  Buffer.from(
    `{"record_type":"note","schema_version":1,"run_id":"${randomUUID()}","timestamp":"2026-11-15T02:48:56.995Z","data":${data}}\n`,
  );

const semantivaStart = (context: string): Buffer =>
  Buffer.from(
    `{"record_type":"pipeline_start","schema_version":1,"run_id":"${randomUUID()}","timestamp":"2026-11-15T02:48:56.995Z","pipeline_id":"p","pipeline_spec_canonical":{"nodes":[]},"run_space_launch_id":"${randomUUID()}","run_space_attempt":1,"run_space_index":0,"run_space_context":${context}}\n`,
  );

const otlpSpan = (attributes: string, i = 0): string =>
  `{"traceId":"${hex(16)}","spanId":"${hex(8)}","name":"step","startTimeUnixNano":"${1790000000000000000n + BigInt(i)}","endTimeUnixNano":"1790000000100000000","attributes":[${attributes}]}`;
const hex = (bytes: number): string =>
  randomUUID()
    .replaceAll("-", "")
    .slice(0, bytes * 2);
const otlp = (spans: string): Buffer =>
  Buffer.from(`{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{"name":"s"},"spans":[${spans}]}]}]}`);

const bodies: Readonly<Record<string, Readonly<Record<string, () => Buffer>>>> = {
  "/v1/traces": {
    "Cirron spans, 300,000": () => cirron(list(300_000, (i) => cirronSpan("{}", i))),
    "Cirron text": () => cirron(cirronSpan(`{"t":"${longText}"}`)),
    "Cirron list of 5,000,000 numbers": () => cirron(cirronSpan(`{"l":[${numbers(",")}]}`)),
    "Cirron list with blanks": () => cirron(cirronSpan(`{"l":[${numbers(", ")}]}`)),
    "Cirron field that nobody knows, a text": () => cirron(withUnknown(cirronSpan("{}"), `"${longText}"`)),
    "Cirron field that nobody knows, a list": () => cirron(withUnknown(cirronSpan("{}"), `[${numbers(",")}]`)),
    "Cirron record with 1,000,000 fields that nobody knows": () =>
      cirron(withMembers(cirronSpan("{}"), keys(1_000_000))),
    "Cirron object of 1,000,000 keys": () => cirron(cirronSpan(`{${keys(1_000_000)}}`)),
    "Cirron object with a key twice": () => cirron(cirronSpan(twice())),
    "Cirron histogram of 5,000,000 bins": cirronHistogram,
  },
  "/v1/trace-stream": {
    "Semantiva text": () => semantiva(`"${longText}"`),
    "Semantiva list of 5,000,000 numbers": () => semantiva(`[${numbers(",")}]`),
    "Semantiva context with a list of 5,000,000 numbers": () => semantivaStart(`{"l":[${numbers(",")}]}`),
    "Semantiva context with a text": () => semantivaStart(`{"t":"${longText}"}`),
    "Semantiva context of 300,000 keys": () => semantivaStart(`{${keys(300_000)}}`),
    "Semantiva object of 1,000,000 keys": () => semantiva(`{${keys(1_000_000)}}`),
    "Semantiva object with a key twice": () => semantiva(twice()),
  },
  "/v1/xtrack": {
    "XTrack metrics, 400,000": manyMetrics,
    "XTrack event with 60,000 metrics": () => metrics(60_000),
    "XTrack text": () => param(`"${longText}"`),
    "XTrack log with a text": () => event("log", `"level":"info","msg":"${longText}"`),
    "XTrack list of 5,000,000 numbers": () => param(`[${numbers(",")}]`),
    "XTrack list with blanks": () => param(`[${numbers(", ")}]`),
    "XTrack object with a key twice": () => param(twice()),
    "XTrack metadata of an artifact, a list": () => event("artifact", `"path":"a","meta":{"l":[${numbers(",")}]}`),
    "XTrack field that nobody knows, a text": () => event("log", `"level":"info","msg":"m","later":"${longText}"`),
    "XTrack event with 1,000,000 fields that nobody knows": () =>
      event("log", `"level":"info","msg":"m",${keys(1_000_000)}`),
  },
  "/v1/runs/long-output/output?wrapper=w&stream=stdout&offset=": {
    "a line of output": () => Buffer.from(longText),
  },
  "/v1/otlp/v1/traces": {
    "OTLP spans, 170,000, as JSON": () => otlp(list(170_000, (i) => otlpSpan("", i))),
    "OTLP text as JSON": () => otlp(otlpSpan(`{"key":"t","value":{"stringValue":"${longText}"}}`)),
    "OTLP record with 440,000 values as JSON": manyValues,
  },
};

export const largeBodies: readonly LargeBody[] = Object.entries(bodies).flatMap(([path, made]) =>
  Object.entries(made).map(([name, make]) => ({
    ...{ name, path, make },
    type: path.includes("otlp") ? "application/json" : "application/octet-stream",
  })),
);

function manyMetrics(): Buffer {
  const run = randomUUID();
  return Buffer.concat(
    Array.from({ length: 400_000 }, (_, i) =>
      toFrame(
        `{"v":1,"t":"metric","m":{"seq":${i},"ts":${1790000000000000 + i}},"p":{"run_id":"${run}","key":"loss","value":${i / 8},"step":${i}}}`,
      ),
    ),
  );
}

function manyValues(): Buffer {
  const values = list(220_000, (i) => `{"intValue":"${i}"}`);
  return otlp(otlpSpan(`{"key":"l","value":{"arrayValue":{"values":[${values}]}}}`));
}
