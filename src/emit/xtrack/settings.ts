// Where a run's events go: options win over the environment. The variables are those of the Python emitter,
// and five more for what it does not have: XTRACK_URL, XTRACK_API_KEY, XTRACK_FD, XTRACK_COMMANDS, XTRACK_SPOOL.

import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions, toNumberOption, toTextOption } from "#emit/read-options.ts";

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

const portDefault = 9999;

export type Env = Readonly<Record<string, string | undefined>>;

/** The folder for events that never arrived; null for none. */
export function chooseSpool(option: string | false | undefined, env: Env): string | null {
  const given = option === false ? option : toTextOption(option);
  const named = given ?? text(env["XTRACK_SPOOL"]) ?? ".xtrack";
  return named === false || named === "off" ? null : named;
}

/** Reports unusable values to `onProblem` and uses the default instead. */
export function chooseTransport(
  options: TransportOptions | TransportKind | undefined,
  env: Env,
  onProblem: (sentence: string) => void,
): TransportChoice {
  const given: Given = typeof options === "string" ? { kind: options } : readOptions<Given>(options);
  const kind = toTextOption(given.kind);
  if (options !== undefined && (kind === undefined || !isKind(kind)))
    onProblem(`transport ${JSON.stringify(kind)} is ${noneOfKinds}`);
  const wanted = kind !== undefined && isKind(kind) ? { ...given, kind } : { kind: fromEnv(env, onProblem) };
  switch (wanted.kind) {
    case "tcp": {
      const { host, port } = wanted as Given;
      const named = toNumberOption(port) ?? toTextOption(port) ?? text(env["XTRACK_PORT"]);
      return {
        kind: "tcp",
        host: toTextOption(host) ?? text(env["XTRACK_HOST"]) ?? "localhost",
        port: toPort(named, onProblem),
      };
    }
    case "unix":
      return { kind: "unix", path: pathOf(wanted) ?? text(env["XTRACK_SOCKET"]) ?? join(tmpdir(), "xtrack.sock") };
    case "file":
      return { kind: "file", path: pathOf(wanted) ?? text(env["XTRACK_FILE"]) ?? "xtrack_events.bin" };
    case "ws":
      return { kind: "ws", url: toTextOption((wanted as Given).url) ?? toUrl(env) };
    case "stdio": {
      const named = text(env["XTRACK_FD"]);
      const fd = Number(named);
      const isFd = Number.isInteger(fd) && fd > 0;
      if (named !== undefined && !isFd) onProblem(`XTRACK_FD is ${JSON.stringify(named)}, which is no descriptor`);
      return {
        kind: "stdio",
        fd: isFd ? fd : undefined,
        // Only the parent knows whether stdin is its command channel or the program's own input.
        readsStdin: env["XTRACK_COMMANDS"] === "stdin",
      };
    }
    default:
      return { kind: "null" };
  }
}

const kinds: readonly string[] = ["tcp", "unix", "stdio", "file", "ws", "null"] satisfies TransportKind[];
const noneOfKinds = `none of ${kinds.join(", ")}`;

function isKind(word: string): word is TransportKind {
  return kinds.includes(word);
}

/** XTRACK_TRANSPORT, else the transport whose own variable is set, else TCP to the local collector. */
function fromEnv(env: Env, onProblem: (sentence: string) => void): TransportKind {
  const named = text(env["XTRACK_TRANSPORT"]);
  const word = named?.toLowerCase() ?? "";
  if (isKind(word)) return word;
  if (named !== undefined) onProblem(`XTRACK_TRANSPORT is ${JSON.stringify(named)}, which is ${noneOfKinds}`);
  if (text(env["XTRACK_URL"]) !== undefined) return "ws";
  if (text(env["XTRACK_SOCKET"]) !== undefined) return "unix";
  if (text(env["XTRACK_FILE"]) !== undefined) return "file";
  return "tcp";
}

function toPort(named: number | string | undefined, onProblem: (sentence: string) => void): number {
  const port = Number(named ?? portDefault);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  onProblem(`XTRACK_PORT is ${JSON.stringify(named)}, which is no port; ${portDefault} is used`);
  return portDefault;
}

function toUrl(env: Env): string {
  const server = (text(env["TRIBUTARY_SERVER"]) ?? "http://127.0.0.1:7077").replace(/\/+$/, "");
  return text(env["XTRACK_URL"]) ?? `${server.replace(/^http/, "ws")}/v1/xtrack`;
}

/** As an untyped caller may have filled it in. */
interface Given {
  readonly kind?: unknown;
  readonly host?: unknown;
  readonly port?: unknown;
  readonly path?: unknown;
  readonly url?: unknown;
}

function pathOf(options: Given): string | undefined {
  return toTextOption(options.path);
}

function text(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}
