// Bodies of about the largest size that is taken, each of another kind: many records, one text, one long list.

import { randomUUID } from "node:crypto";

export interface LargeBody {
  readonly name: string;
  /** What ends with an equals sign is followed by a number of each round's own. */
  readonly path: string;
  readonly type?: string;
  make(): Buffer;
}

const mebibyte = 1024 * 1024;
const longText = "the quick brown fox 0123 ".repeat((60 * mebibyte) / 25);
const numbers = (separator: string): string => Array.from({ length: 5_000_000 }, (_, i) => i % 1e7).join(separator);

const toFrame = (json: string): Buffer => {
  const payload = Buffer.from(json);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(payload.length);
  return Buffer.concat([length, payload]);
};
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

const json = "application/json";
export const largeBodies: readonly LargeBody[] = [
  { name: "Cirron spans, 300,000", path: "/v1/traces", make: () => cirron(list(300_000, (i) => cirronSpan("{}", i))) },
  { name: "Cirron text", path: "/v1/traces", make: () => cirron(cirronSpan(`{"t":"${longText}"}`)) },
  {
    name: "Cirron list of 5,000,000 numbers",
    path: "/v1/traces",
    make: () => cirron(cirronSpan(`{"l":[${numbers(",")}]}`)),
  },
  { name: "Cirron list with blanks", path: "/v1/traces", make: () => cirron(cirronSpan(`{"l":[${numbers(", ")}]}`)) },
  {
    name: "Cirron field that nobody knows, a text",
    path: "/v1/traces",
    make: () => cirron(withUnknown(cirronSpan("{}"), `"${longText}"`)),
  },
  {
    name: "Cirron field that nobody knows, a list",
    path: "/v1/traces",
    make: () => cirron(withUnknown(cirronSpan("{}"), `[${numbers(",")}]`)),
  },
  {
    name: "Cirron record with 1,000,000 fields that nobody knows",
    path: "/v1/traces",
    make: () => cirron(withMembers(cirronSpan("{}"), keys(1_000_000))),
  },
  {
    name: "Cirron object of 1,000,000 keys",
    path: "/v1/traces",
    make: () => cirron(cirronSpan(`{${keys(1_000_000)}}`)),
  },
  { name: "Cirron object with a key twice", path: "/v1/traces", make: () => cirron(cirronSpan(twice())) },
  { name: "Cirron histogram of 5,000,000 bins", path: "/v1/traces", make: cirronHistogram },
  { name: "Semantiva text", path: "/v1/trace-stream", make: () => semantiva(`"${longText}"`) },
  { name: "Semantiva list of 5,000,000 numbers", path: "/v1/trace-stream", make: () => semantiva(`[${numbers(",")}]`) },
  {
    name: "Semantiva context with a list of 5,000,000 numbers",
    path: "/v1/trace-stream",
    make: () => semantivaStart(`{"l":[${numbers(",")}]}`),
  },
  {
    name: "Semantiva context with a text",
    path: "/v1/trace-stream",
    make: () => semantivaStart(`{"t":"${longText}"}`),
  },
  {
    name: "Semantiva context of 300,000 keys",
    path: "/v1/trace-stream",
    make: () => semantivaStart(`{${keys(300_000)}}`),
  },
  {
    name: "Semantiva object of 1,000,000 keys",
    path: "/v1/trace-stream",
    make: () => semantiva(`{${keys(1_000_000)}}`),
  },
  { name: "Semantiva object with a key twice", path: "/v1/trace-stream", make: () => semantiva(twice()) },
  { name: "XTrack metrics, 400,000", path: "/v1/xtrack", make: manyMetrics },
  { name: "XTrack event with 60,000 metrics", path: "/v1/xtrack", make: () => metrics(60_000) },
  { name: "XTrack text", path: "/v1/xtrack", make: () => param(`"${longText}"`) },
  {
    name: "XTrack log with a text",
    path: "/v1/xtrack",
    make: () => event("log", `"level":"info","msg":"${longText}"`),
  },
  { name: "XTrack list of 5,000,000 numbers", path: "/v1/xtrack", make: () => param(`[${numbers(",")}]`) },
  { name: "XTrack list with blanks", path: "/v1/xtrack", make: () => param(`[${numbers(", ")}]`) },
  { name: "XTrack object with a key twice", path: "/v1/xtrack", make: () => param(twice()) },
  {
    name: "XTrack metadata of an artifact, a list",
    path: "/v1/xtrack",
    make: () => event("artifact", `"path":"a","meta":{"l":[${numbers(",")}]}`),
  },
  {
    name: "XTrack field that nobody knows, a text",
    path: "/v1/xtrack",
    make: () => event("log", `"level":"info","msg":"m","later":"${longText}"`),
  },
  {
    name: "XTrack event with 1,000,000 fields that nobody knows",
    path: "/v1/xtrack",
    make: () => event("log", `"level":"info","msg":"m",${keys(1_000_000)}`),
  },
  {
    name: "a line of output",
    path: "/v1/runs/long-output/output?wrapper=w&stream=stdout&offset=",
    make: () => Buffer.from(longText),
  },
  {
    name: "OTLP spans, 170,000, as JSON",
    path: "/v1/otlp/v1/traces",
    type: json,
    make: () => otlp(list(170_000, (i) => otlpSpan("", i))),
  },
  {
    name: "OTLP text as JSON",
    path: "/v1/otlp/v1/traces",
    type: json,
    make: () => otlp(otlpSpan(`{"key":"t","value":{"stringValue":"${longText}"}}`)),
  },
  { name: "OTLP record with 440,000 values as JSON", path: "/v1/otlp/v1/traces", type: json, make: manyValues },
];

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
