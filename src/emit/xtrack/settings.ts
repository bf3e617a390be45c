// Where a run's events go: options win over the environment. The variables are those of the Python emitter,
// and four more for what it does not have: XTRACK_URL, XTRACK_API_KEY, XTRACK_FD, XTRACK_COMMANDS.

import { tmpdir } from "node:os";
import { join } from "node:path";

export type TransportOptions =
  | { readonly kind: "tcp"; readonly host?: string; readonly port?: number }
  | { readonly kind: "unix"; readonly path?: string }
  /** Frames to file descriptor 3 when the parent opened it, else to stdout. */
  | { readonly kind: "stdio" }
  | { readonly kind: "file"; readonly path?: string }
  | { readonly kind: "ws"; readonly url?: string }
  | { readonly kind: "null" };

export type TransportKind = TransportOptions["kind"];

/** The same with every blank filled in. */
export type TransportChoice =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "stdio"; readonly fd: number | undefined; readonly readsStdin: boolean }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "ws"; readonly url: string }
  | { readonly kind: "null" };

export type Env = Readonly<Record<string, string | undefined>>;

export function chooseTransport(options: TransportOptions | TransportKind | undefined, env: Env): TransportChoice {
  const wanted = typeof options === "string" ? { kind: options } : (options ?? { kind: fromEnv(env) });
  switch (wanted.kind) {
    case "tcp": {
      const { host, port } = wanted as { host?: string; port?: number };
      return { kind: "tcp", host: host ?? text(env["XTRACK_HOST"]) ?? "localhost", port: port ?? toPort(env) };
    }
    case "unix":
      return { kind: "unix", path: pathOf(wanted) ?? text(env["XTRACK_SOCKET"]) ?? join(tmpdir(), "xtrack.sock") };
    case "file":
      return { kind: "file", path: pathOf(wanted) ?? text(env["XTRACK_FILE"]) ?? "xtrack_events.bin" };
    case "ws":
      return { kind: "ws", url: (wanted as { url?: string }).url ?? toUrl(env) };
    case "stdio": {
      const fd = Number(text(env["XTRACK_FD"]) ?? Number.NaN);
      return {
        kind: "stdio",
        fd: Number.isInteger(fd) && fd > 0 ? fd : undefined,
        // Only the parent knows whether stdin is its command channel or the program's own input.
        readsStdin: env["XTRACK_COMMANDS"] === "stdin",
      };
    }
    default:
      return { kind: "null" };
  }
}

/** XTRACK_TRANSPORT, else the transport whose own variable is set, else TCP to the local collector. */
function fromEnv(env: Env): TransportKind {
  const named = text(env["XTRACK_TRANSPORT"])?.toLowerCase();
  switch (named) {
    case "stdio":
    case "tcp":
    case "unix":
    case "file":
    case "ws":
    case "null":
      return named;
  }
  if (text(env["XTRACK_URL"]) !== undefined) return "ws";
  if (text(env["XTRACK_SOCKET"]) !== undefined) return "unix";
  if (text(env["XTRACK_FILE"]) !== undefined) return "file";
  return "tcp";
}

function toPort(env: Env): number {
  const port = Number(text(env["XTRACK_PORT"]) ?? Number.NaN);
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 9999;
}

function toUrl(env: Env): string {
  const server = (text(env["TRIBUTARY_SERVER"]) ?? "http://127.0.0.1:7077").replace(/\/+$/, "");
  return text(env["XTRACK_URL"]) ?? `${server.replace(/^http/, "ws")}/v1/xtrack`;
}

function pathOf(options: object): string | undefined {
  return (options as { path?: string }).path;
}

function text(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}
