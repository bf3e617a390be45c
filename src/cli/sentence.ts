// Turns the error that ended a command into a sentence for people, a hint about what to type, and a code for scripts.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf, fullCodes } from "#base/disk-outage.ts";
import { ApiError } from "./client.ts";
import { Exit, exitCodes } from "./exit.ts";
import { findPortOwner } from "./port-owner.ts";

/** The server's hints speak of routes; somebody at a terminal wants to know what to type. */
const hints: Readonly<Record<string, string>> = {
  run_not_found: "List runs with: tributary runs   Any id a run was ever known by works.",
  launch_not_found: "List runs with: tributary runs   A retry of a launch is a new attempt.",
  key_missing: "Pass one with --key or TRIBUTARY_KEY. On the server's machine, tributary keys create makes one.",
  key_wrong:
    "Pass another with --key or TRIBUTARY_KEY. On the server's machine, tributary keys lists the existing ones.",
  export_kind: "Name it with --kind; tributary export --help lists them.",
  export_format: "tributary export --help says which format is for what.",
  key_not_found: "List keys with: tributary keys",
  rule_not_found: "List rules with: tributary rules list",
  request_invalid: "Each command says with --help what it takes.",
  sql_refused: "One SELECT over the documented tables; tributary sql --help names them.",
};

/** Refusals of questions that no repetition would make right. */
const wrongUses: ReadonlySet<string> = new Set(["request_invalid", "export_kind", "export_format"]);

export function toExit(error: unknown): Exit {
  if (error instanceof Exit) return error;
  if (error instanceof ApiError) {
    const { code, message, hint, at } = error.answer;
    const place = at?.offset === undefined ? "" : ` (at character ${at.offset + 1})`;
    const refused = wrongUses.has(code) ? exitCodes.usage : exitCodes.negative;
    return new Exit(error.status >= 500 ? exitCodes.outage : refused, message + place, hints[code] ?? hint);
  }
  const { syscall, path } = error as NodeJS.ErrnoException;
  if (syscall === "listen") return toListenExit(error as ListenError);
  // A write says what went wrong, but not where.
  if (syscall !== undefined && path === undefined && fullCodes.has(codeOf(error)))
    return new Exit(exitCodes.outage, `Not all could be written: ${whyNot("ENOSPC")}.`);
  if (syscall === "write" && codeOf(error) === "EPIPE")
    return new Exit(exitCodes.outage, "Not all could be written: whoever read it has gone.");
  if (syscall !== undefined && path !== undefined) return toFileExit(error as NodeJS.ErrnoException, path);
  // Outages carry a kind and a sentence; anything else is a bug and keeps its stack.
  const { kind, message, stack } = error as { kind?: string; message?: string; stack?: string };
  if (kind === "engine_down") return toEngineExit(String(message));
  if (kind === "folder_taken") {
    return new Exit(exitCodes.outage, String(message), "If a server runs there, name it with --server URL.");
  }
  if (kind === "backup") return new Exit(exitCodes.negative, String(message));
  return new Exit(exitCodes.outage, kind === undefined ? (stack ?? String(error)) : (message ?? String(error)));
}

/** The engine's process ends with a stack trace of its own, which means nothing to the person who started it. */
function toEngineExit(message: string): Exit {
  if (/no native binding|CHDB_PLATFORM/.test(message)) {
    const hint = "Install it again without --omit=optional, or name a ClickHouse server with store.url.";
    return new Exit(exitCodes.outage, "The library of the embedded engine is not installed for this platform.", hint);
  }
  const lines = message.split("\n").filter((line) => !/^\s+at /.test(line));
  return new Exit(exitCodes.outage, lines.join("\n").trim(), "tributary doctor checks this setup.");
}

type ListenError = NodeJS.ErrnoException & { readonly address?: string; readonly port?: number };

function toListenExit({ code, address = "", port = -1 }: ListenError): Exit {
  const owner = code === "EADDRINUSE" && port > 0 ? findPortOwner(port) : undefined;
  const who = owner === undefined ? "something else" : `process ${owner.pid} (${owner.command})`;
  const why = code === "EADDRINUSE" ? `${who} listens there` : whyNot(code);
  if (address.startsWith("/")) {
    // The socket is made under a name of its own first.
    const path = address.replace(/\.[0-9a-f]{6}$/, "");
    // The runtime also says of a missing folder that it may not be used.
    const whyHere = existsSync(dirname(path)) ? why : `there is no folder ${dirname(path)}`;
    return new Exit(exitCodes.outage, `Cannot listen on ${path}: ${whyHere}.`, "Choose another path with --unix.");
  }
  const stop = owner === undefined ? "" : `Stop it with: kill ${owner.pid}   or choose`;
  const hint = `${stop === "" ? "Choose" : stop} another address with --http or --xtrack, for example --http 127.0.0.1:0.`;
  return new Exit(exitCodes.outage, `Cannot listen on ${address}${port < 0 ? "" : `:${port}`}: ${why}.`, hint);
}

/** A wrong path is no outage: trying again changes nothing. */
const wrongPaths: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

function toFileExit({ code, syscall }: NodeJS.ErrnoException, path: string): Exit {
  const isFolder = syscall === "mkdir" || syscall === "scandir";
  // A file is written under another name first.
  const what = isFolder && code === "EACCES" ? dirname(path) : path.replace(/\.partial$/, "");
  const isLost = code === "ENOENT" && !existsSync(dirname(path));
  const why = isLost ? `there is no folder ${dirname(path)}` : whyNot(code);
  return new Exit(wrongPaths.has(code) ? exitCodes.usage : exitCodes.outage, `Cannot use ${what}: ${why}.`);
}

export function whyNot(code: string | undefined): string {
  switch (code) {
    case "EACCES":
    case "EPERM":
      return "this user may not";
    case "EROFS":
      return "it is on a read-only disk";
    case "ENOSPC":
      return "the disk is full";
    case "ENOENT":
      return "there is no such file or folder";
    case "EEXIST":
    case "ENOTDIR":
      return "a file is in the way of a folder";
    case "EISDIR":
      return "it is a folder";
    default:
      return code ?? "for an unknown reason";
  }
}
