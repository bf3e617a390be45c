// OTLP spans into a real server, until queryable: protobuf over HTTP, gzipped as exporters send it, in requests of 512
// spans as their batch processors make them. Client, server and engine share the machine.
//
// Usage: node bench/otlp.ts [spans, 400000] [--save] [--prof DIR]

import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { decodeExport } from "#wire/otlp/decode.ts";
import { toRoleOf } from "#wire/otlp/meaning.ts";
import { encodeMessage, type Message } from "#wire/otlp/message.ts";
import { encodeOrigin } from "#wire/otlp/origin.ts";
import { RequestBuilder } from "#wire/otlp/request-pieces.ts";
import { span } from "#wire/otlp/schema.ts";
import { postAll } from "./support/post.ts";
import { askSql, cpuMs, describeMachine, measure, startServer, type Usage, whole } from "./support/server.ts";
import { nodeFlags, numbers, savePage } from "./support/words.ts";

const [spans = 400_000] = numbers;
const spansPerRequest = 512;
const posters = 4;
const warmRequests = 40;

const resource = {
  "service.name": "pretrain",
  "nemo.run.id": "bench",
  "service.instance.id": "bench-rank0",
  "dl.rank": 0,
  "host.name": "gpu-node-17",
  "process.pid": 4711,
  "telemetry.sdk.name": "opentelemetry",
  "telemetry.sdk.language": "python",
};
const origin = encodeOrigin(JSON.stringify({ resource, scope: { name: "megatron.training", version: "0.14" } }));

/** A step of a training: one span with a loss, and its forward and backward passes. */
function toSpan(number: number, traceId: Uint8Array): Message {
  const step = Math.floor(number / 8);
  const startNs = 1_790_000_000_000_000_000n + BigInt(number) * 1_000_000n;
  const isStep = number % 8 === 0;
  const attributes: Message[] = [
    { key: "megatron.iteration", value: { intValue: BigInt(step) } },
    { key: "megatron.microbatch", value: { stringValue: `micro-${number % 8}` } },
    { key: "cuda.stream", value: { stringValue: "default" } },
    { key: "cached", value: { boolValue: number % 3 === 0 } },
  ];
  if (isStep) attributes.push({ key: "megatron.loss", value: { doubleValue: 10 / (1 + step) } });
  return {
    traceId,
    spanId: randomBytes(8),
    parentSpanId: randomBytes(8),
    name: isStep ? "train_step" : number % 2 === 0 ? "forward_backward" : "microbatch.forward",
    kind: 1,
    startTimeUnixNano: startNs,
    endTimeUnixNano: startNs + 900_000n,
    attributes,
    status: { code: 1 },
  };
}

function makeBodies(count: number, first: number): { bodies: Buffer[]; plain: Uint8Array[] } {
  const traceId = randomBytes(16);
  const bodies: Buffer[] = [];
  const plain: Uint8Array[] = [];
  for (let at = 0; at < count; at += spansPerRequest) {
    const builder = new RequestBuilder();
    for (let i = 0; i < spansPerRequest; i++) builder.add(origin, encodeMessage(span, toSpan(first + at + i, traceId)));
    const body = builder.finish();
    plain.push(body);
    bodies.push(gzipSync(body, { level: 6 }));
  }
  return { bodies, plain };
}

/** Microseconds of processor time for decoding a span into columns; the best of a few rounds. */
function decodeUs(plain: readonly Uint8Array[]): number {
  const roleOf = toRoleOf([]);
  const decode = (): void => {
    for (const body of plain) decodeExport("traces", body, { roleOf });
  };
  const best = Math.min(...Array.from({ length: 8 }, () => cpuMs(decode)));
  return (best * 1000) / (plain.length * spansPerRequest);
}

const { bodies, plain } = makeBodies(spans, 1_000_000);
const perSpan = decodeUs(plain.slice(0, 100));
const server = await startServer({ nodeFlags, env: { TRIBUTARY_OTLP_GRPC: "off" } });
const type = "application/x-protobuf";
await postAll(server.url, makeBodies(warmRequests * spansPerRequest, 0).bodies, { connections: 1, type });
await server.drained();

const measured = await measure(server, () => postAll(server.url, bodies, { connections: posters, type }));
const [[found] = []] = await askSql(server, "SELECT count() FROM otel_spans");
await server.close();

const sent = bodies.length * spansPerRequest;
const us = ({ cpuMs }: Usage): string => ((cpuMs * 1000) / sent).toFixed(1);
const lines = [
  "# OTLP",
  "",
  "`node bench/otlp.ts`: spans of a training in protobuf over HTTP, gzipped, 512 a request, from four connections, into a",
  "real server, until `GET /readyz?drained=1` says that all can be queried. Every answer came after the bytes were durable.",
  "",
  "| | |",
  "| --- | ---: |",
  `| spans sent, and found in the end (with ${whole(warmRequests * spansPerRequest)} of the warm-up) | ${whole(sent)}, ${whole(Number(found))} |`,
  `| requests refused | ${measured.result.refused} |`,
  `| spans/s accepted | ${whole(sent / measured.acceptedS)} |`,
  `| spans/s until queryable | ${whole(sent / measured.queryableS)} |`,
  `| server's and engine's processor time a span, µs | ${us(measured.server)} and ${us(measured.engine)} |`,
  `| decoding alone, µs a span | ${perSpan.toFixed(2)} |`,
  `| server's peak, MiB | ${measured.server.peakMiB} |`,
  `| bytes a span, plain and gzipped | ${whole(plain.reduce((sum, body) => sum + body.length, 0) / sent)} and ${whole(bodies.reduce((sum, body) => sum + body.length, 0) / sent)} |`,
  "",
  describeMachine(),
  "",
];
await savePage("otlp", lines.join("\n"));
