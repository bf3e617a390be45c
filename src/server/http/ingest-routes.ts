// The routes that take traces. An answer is given only when the bytes are durable. Clients drop a batch for good on most
// 4xx, so a duplicate or an unknown run is a success, and what is refused is kept as a fault.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { paths, type RouteName } from "#api/contract/paths.ts";
import { type QueryOf, type RouteSchemas, schemas } from "#api/contract/routes.ts";
import { Refusal } from "#api/refusal.ts";
import { blastOf, type Fault } from "#model/fault.ts";
import type { Metrics } from "#server/metrics.ts";
import { type Body, type BodyLimits, BodyRefusal, readBody } from "./body.ts";
import { type Busy, type HttpInput, type Intake, isBusy, type Receipt } from "./ports.ts";

export interface IngestOptions {
  readonly intake: Intake;
  readonly limits: BodyLimits;
  readonly metrics: Metrics;
}

type Protocol = "cirron" | "semantiva" | "xtrack" | "output" | "wrapper";

export function addIngestRoutes(app: FastifyInstance, options: IngestOptions): void {
  const add = (name: RouteName, protocol: Protocol) => {
    const { method, path, scope } = paths[name];
    const { params, query: querystring }: RouteSchemas = schemas[name];
    app.route({
      method,
      url: path,
      config: { scope },
      schema: { querystring, ...(params ? { params } : {}) },
      handler: (request, reply) => takeIn(request, reply, protocol, options),
    });
  };
  add("cirron", "cirron");
  add("cirronDefault", "cirron");
  add("cirronRun", "cirron");
  add("semantiva", "semantiva");
  add("xtrack", "xtrack");
  add("output", "output");
  add("wrapper", "wrapper");
}

async function takeIn(
  request: FastifyRequest,
  reply: FastifyReply,
  protocol: Protocol,
  { intake, limits, metrics }: IngestOptions,
): Promise<unknown> {
  const arrival = toArrival(request);
  let body: Body;
  try {
    body = await readBody(request.raw, limits);
  } catch (error) {
    if (error instanceof BodyRefusal) await keepRefused(intake, arrival, protocol, error);
    throw error;
  }
  metrics.bytesIn.inc({ protocol }, body.bytes.length);
  const receipt = await intake.submit(toInput(protocol, arrival, body, request.query));
  if (isBusy(receipt)) {
    metrics.refused.inc({ reason: "busy" });
    throw refuseBusy(receipt);
  }
  if ((request.query as { wait?: string }).wait === "1") await intake.queryable(receipt.position);
  reply.code(202);
  return protocol === "cirron" ? toBatchAnswer(receipt) : toStreamAnswer(receipt, protocol);
}

type Arrival = Omit<HttpInput & { kind: "cirron_batch" }, "kind" | "body">;

export function toArrival(request: FastifyRequest): Arrival {
  const { caller } = request;
  const { imported, source, run, wrapper } = request.query as QueryOf<"cirron"> & { wrapper?: string };
  return {
    workspace: caller.workspace,
    transport: wrapper !== undefined ? "run" : source !== undefined ? "file" : "http",
    // A folder is another word than a key, so that nobody can pass for someone else's key.
    source: source === undefined ? caller.source : `folder:${source}`,
    runOverride: (request.params as { run?: string }).run ?? run ?? null,
    imported: imported === "1",
    receivedNs: BigInt(Date.now()) * 1_000_000n,
  };
}

function toInput(protocol: Protocol, arrival: Arrival, { bytes: body, packed }: Body, query: unknown): HttpInput {
  const {
    file = "",
    line = 1,
    offset = 0,
    current_run: currentRun = null,
  } = query as QueryOf<"xtrack"> & {
    current_run?: string | null;
  };
  const sent = packed === undefined ? { body } : { body, packed };
  switch (protocol) {
    case "cirron":
      return { ...arrival, kind: "cirron_batch", ...sent };
    case "semantiva":
      return { ...arrival, kind: "semantiva_lines", ...sent, file, firstLine: line, offset };
    case "xtrack":
      return { ...arrival, kind: "xtrack_frames", body, file, offset, currentRun };
    case "output": {
      const { wrapper, stream, at_ns } = query as QueryOf<"output">;
      const printed = at_ns === undefined ? {} : { printedNs: at_ns };
      return { ...arrival, kind: "log_lines", body, wrapperId: wrapper, stream, offset, ...printed };
    }
    case "wrapper":
      return { ...arrival, kind: "wrapper_lines", body, wrapperId: (query as QueryOf<"wrapper">).wrapper };
  }
}

// A fault shows where a client went wrong; the rest of a body beyond the limit would not tell more.
const keptBytesMax = 64 * 1024;

async function keepRefused(intake: Intake, arrival: Arrival, protocol: Protocol, refusal: BodyRefusal): Promise<void> {
  await intake.submit({
    ...arrival,
    kind: "refused",
    protocol,
    code: refusal.code as Fault["code"],
    detail: refusal.message,
    place: "{}",
    body: refusal.read.slice(0, keptBytesMax),
  });
}

function toBatchAnswer(receipt: Receipt): { batch_id: string } {
  if (receipt.batchId !== null) return { batch_id: receipt.batchId };
  const fault = receipt.faults.find((one) => blastOf(one.code) !== "record") ?? receipt.faults[0];
  throw toFaultRefusal(fault);
}

function toFaultRefusal(fault: Fault | undefined): Refusal {
  const { offset, pointer } = fault?.place ?? {};
  return new Refusal(fault?.code ?? "cirron_not_batch", fault?.detail ?? "The body is not a Cirron batch.", {
    hint: "The body is kept as a fault and can be looked at on the Integrity page.",
    at: {
      part: "body",
      ...(pointer === undefined ? {} : { name: pointer }),
      ...(offset === undefined ? {} : { offset }),
    },
  });
}

function toStreamAnswer({ accepted, duplicates, faults }: Receipt, protocol: Protocol) {
  return {
    accepted,
    duplicates,
    faults: faults.map(({ code, detail, place }) => ({
      ...(protocol === "semantiva" || protocol === "wrapper"
        ? { line: place.line ?? 0 }
        : { offset: place.offset ?? 0 }),
      code,
      message: detail,
    })),
  };
}

export function refuseBusy({ retryAfterS }: Busy): Refusal {
  return new Refusal("busy", "The store lags behind and there is no room for more.", {
    hint: "Send it again after the time in Retry-After; nothing was taken.",
    headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfterS))) },
  });
}
