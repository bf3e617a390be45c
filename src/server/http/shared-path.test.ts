import Fastify from "fastify";
import { afterEach, expect, it } from "vitest";
import { readConfig } from "#config/read-config.ts";
import type { Input } from "#intake/input.ts";
import type { Receipt } from "#intake/sequencer.ts";
import type { HttpDoor, Protocol } from "#protocol/protocol.ts";
import { protocols } from "#protocol/protocols.ts";
import { BodyQueue } from "#server/body-queue.ts";
import { createMetrics } from "#server/metrics.ts";
import { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import { addIngestRoutes } from "./ingest-routes.ts";
import { KeyWatch } from "./key-watch.ts";
import type { Busy } from "./ports.ts";

// A protocol of spans that shares its path with another, as OpenTelemetry does.
const door: HttpDoor = {
  route: "cirron",
  claims: ({ headers, body }) => headers["content-type"] === "application/x-spans" || body[0] === 0x0a,
  take: ({ arrival, body }) => ({
    submissions: [{ input: { ...arrival, kind: "spans", body } }],
    refused: body.length > 3 ? { code: "cirron_not_batch", detail: "too many", place: {}, raw: body } : null,
    answerWhen: "applied",
    toReply: ({ faults }) => ({
      status: 200,
      body: Uint8Array.of(8, faults.length),
      headers: { "content-type": "application/x-spans" },
    }),
  }),
  toErrorReply: ({ status, message, retryAfterS }) =>
    retryAfterS === null
      ? { status: status + 22, body: { message } }
      : { status: 503, body: { message: "later" }, headers: { "retry-after": String(retryAfterS) } },
};
const [first, ...others] = protocols as [Protocol, ...Protocol[]];
const spans: Protocol = { ...first, facts: { ...first.facts, name: "spans" }, doors: [door] };

const apps: ReturnType<typeof Fastify>[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

function open(respond: () => Receipt | Busy = () => ({ position: 1, accepted: 1, duplicates: 0, faults: [] })) {
  const app = Fastify();
  apps.push(app);
  const inputs: Input[] = [];
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.decorateRequest("caller", null as never);
  app.addHook("onRequest", async (request) => {
    request.caller = { workspace: "w", scopes: new Set(), isOfServer: false, name: "", keyId: null, source: "s" };
  });
  const intake = {
    async submit(submissions: Iterable<{ readonly input: Input } | null>) {
      for (const submission of submissions) if (submission !== null) inputs.push(submission.input);
      return respond();
    },
    queryable: async () => undefined,
    roomFor: () => null,
    backlogBytes: () => 0,
  };
  const config = readConfig({ flags: { bodyBytesMax: "1000", bodyRatioMax: "100" }, env: {} });
  const unfinished = new UnfinishedBytes(10_000);
  const keyWatch = new KeyWatch({ list: () => [] });
  const queue = new BodyQueue(intake, 1_000_000);
  const options = { intake, config, unfinished, queue, metrics: createMetrics(), keyWatch };
  addIngestRoutes(app, options, [first, ...others, spans]);
  const post = (payload: Uint8Array, type: string) =>
    app.inject({ method: "POST", url: "/v1/traces", payload: Buffer.from(payload), headers: { "content-type": type } });
  return { post, inputs };
}

const batch =
  '{"schema_version":1,"sdk_version":"1","batch_id":"b","created_ns":1,"spans":[],"marks":[],"snapshots":[]}';

it("gives a request on a shared path to the protocol that claims it, and the rest to the one that does not ask", async () => {
  const { post, inputs } = open();
  const claimed = await post(Uint8Array.of(1, 2), "application/x-spans");
  expect([claimed.statusCode, claimed.headers["content-type"], [...claimed.rawPayload]]).toEqual([
    200,
    "application/x-spans",
    [8, 0],
  ]);
  expect((await post(Uint8Array.of(0x0a), "text/plain")).statusCode).toBe(200);
  const other = await post(Buffer.from(batch), "application/json");
  expect([other.statusCode, other.json()]).toEqual([202, { batch_id: "b" }]);
  expect(inputs.map(({ kind }) => kind)).toEqual(["spans", "spans", "cirron_batch"]);
});

it("lets a protocol word what it says when there is no room and when it refuses", async () => {
  const busy = open(() => ({ busy: true, retryAfterS: 2 }));
  const later = await busy.post(Uint8Array.of(1), "application/x-spans");
  expect([later.statusCode, later.headers["retry-after"], later.json()]).toEqual([503, "2", { message: "later" }]);
  const { post, inputs } = open();
  const refused = await post(Uint8Array.of(1, 2, 3, 4), "application/x-spans");
  expect([refused.statusCode, refused.json()]).toEqual([422, { message: "too many" }]);
  expect(inputs).toMatchObject([{ kind: "refused", protocol: "spans", code: "cirron_not_batch" }]);
});
