// The default ports of OpenTelemetry exporters: gRPC on 4317 and, if enabled, HTTP on 4318. If another telemetry
// collector has them, the server says so and goes on, because its own port accepts everything too.

import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttp } from "#base/node-http.ts";
import type { Address } from "#config/kinds.ts";
import type { Config } from "#config/settings.ts";
import { holdBodies } from "#server/http/continue.ts";
import { checkBind, type HttpServer } from "#server/http/create-http-server.ts";
import type { ServerOptions } from "#server/http/server-options.ts";
import { type GrpcOptions, openGrpcServer } from "./grpc.ts";

type OtlpPortsOptions = GrpcOptions & Pick<ServerOptions, "keys" | "log">;

export interface OtlpPorts {
  readonly grpc: Address | null;
  readonly http: Address | null;
  close(): Promise<void>;
}

interface Port {
  readonly address: Address;
  close(): Promise<void>;
}

/** `main` is the server's own HTTP server, which also answers requests to the HTTP port. */
export async function openOtlpPorts(options: OtlpPortsOptions, main: HttpServer): Promise<OtlpPorts> {
  const { otlpGrpcAddress, otlpHttpAddress } = options.config;
  const grpc = await open("otlp.grpc", otlpGrpcAddress, options, (at) => openGrpcServer(at, options, main.access));
  const http = await open("otlp.http", otlpHttpAddress, options, (at) => openHttpPort(at, options.config, main));
  return {
    grpc: grpc?.address ?? null,
    http: http?.address ?? null,
    close: async () => {
      await Promise.all([grpc?.close(), http?.close()]);
    },
  };
}

async function open(
  setting: string,
  address: Address | "off",
  { config, keys, log }: OtlpPortsOptions,
  listen: (address: Address) => Promise<Port>,
): Promise<Port | null> {
  if (address === "off") return null;
  checkBind(address.host, address.port, keys, config.dataDir);
  try {
    return await listen(address);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EADDRINUSE" && code !== "EACCES" && code !== "EADDRNOTAVAIL") throw error;
    const where = `${address.host}:${address.port}`;
    log.warn(
      { setting, code },
      `${where} is in use, so nothing listens there. Exporters can use HTTP on this server's port, or set another address in ${setting}.`,
    );
    return null;
  }
}

/** Only the paths that exporters post to; everything else stays on the server's own port. */
const exporterPaths = /^\/v1\/(?:traces|metrics|logs)\/?(?:\?|$)/;

async function openHttpPort({ host, port }: Address, config: Config, main: HttpServer): Promise<Port> {
  const server: Server = createHttp({
    headersTimeout: config.headerTimeoutMs,
    requestTimeout: config.requestTimeoutMs,
  });
  holdBodies(server);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (exporterPaths.test(request.url ?? "")) main.handle(request, response);
    else response.writeHead(404).end();
  });
  server.keepAliveTimeout = config.idleTimeoutMs;
  server.maxConnections = config.httpConnectionsMax;
  server.listen(port, host);
  await once(server, "listening");
  const bound = server.address() as AddressInfo;
  return {
    address: { host: bound.address, port: bound.port },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
