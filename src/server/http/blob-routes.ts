// The routes that take files: tensor blobs and artifacts, streamed and never held in memory. 201 with a Location is what
// the SDK turns into its `blob_uri`. The same key may arrive again, and before the batch that names it.

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import { paths, type RouteName } from "#api/contract/paths.ts";
import { createBodyStream, toBodyRefusal } from "./body.ts";
import { refuseBusy, toArrival } from "./ingest-routes.ts";
import { type BlobIntake, type BlobPut, isBusy } from "./ports.ts";
import type { ServerOptions } from "./server-options.ts";

type BlobOptions = Pick<ServerOptions, "blobs" | "config" | "metrics" | "keyWatch">;

export function addBlobRoutes(app: FastifyInstance, options: BlobOptions): void {
  const add = (route: RouteName, handler: RouteHandlerMethod): void => {
    const { method, path, scope } = paths[route];
    app.route({ method, url: path, config: { scope }, handler });
  };
  for (const route of ["blob", "blobDefault", "blobRun"] as const)
    add(route, async (request, reply) => {
      const key = (request.params as { "*": string })["*"];
      const stored = await put(request, key, options, (blob) => options.blobs.putBlob(blob));
      return answer(request, reply, stored.location, { key, size_bytes: stored.sizeBytes });
    });
  add("putArtifact", async (request, reply) => {
    const { name } = request.params as { name: string };
    const stored = await put(request, name, options, (blob) => options.blobs.putArtifact(blob));
    const body = { name, size_bytes: String(stored.sizeBytes), sha256: stored.sha256 };
    return answer(request, reply, stored.location, body);
  });
}

function answer(request: FastifyRequest, reply: FastifyReply, location: string, body: object): object {
  const absolute = location.startsWith("/") ? `${request.protocol}://${request.host}${location}` : location;
  reply.code(201).header("location", absolute);
  return body;
}

async function put(
  request: FastifyRequest,
  key: string,
  { config, metrics, keyWatch }: BlobOptions,
  take: (put: BlobPut) => ReturnType<BlobIntake["putBlob"]>,
) {
  const { workspace, source, runOverride, receivedNs } = toArrival(request);
  const contentType = request.headers["content-type"] ?? "application/octet-stream";
  const body = createBodyStream(request.raw, { bytesMax: config.blobBytesMax, ratioMax: config.bodyRatioMax });
  const endWatch = keyWatch.watch(request.caller.source, () => request.raw.destroy());
  let stored: Awaited<ReturnType<typeof take>>;
  try {
    stored = await take({ workspace, source, runOverride, receivedNs, key, contentType, body });
  } catch (error) {
    throw toBodyRefusal(body.errored, request.raw) ?? toBodyRefusal(error, request.raw) ?? error;
  } finally {
    endWatch();
    body.destroy();
    request.raw.resume();
  }
  if (isBusy(stored)) {
    metrics.refused.inc({ reason: "busy" });
    throw refuseBusy(stored);
  }
  return stored;
}
