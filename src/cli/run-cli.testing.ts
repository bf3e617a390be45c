// For tests: a command line run with its own world, against whatever server it is given.

import { PassThrough } from "node:stream";
import type { Context, OpenServer } from "./context.ts";
import { runCli } from "./program.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface World {
  readonly env?: Record<string, string>;
  readonly stdin?: string;
  readonly stop?: AbortSignal;
  readonly columns?: number;
  readonly openServer?: OpenServer;
  readonly serverWaitMs?: number;
}

export async function runInTest(args: readonly string[], world: World = {}): Promise<Ran> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const stdin = new PassThrough();
  stdin.end(world.stdin ?? "");
  const write = (into: Buffer[]) => (text: string | Uint8Array) => into.push(Buffer.from(text));
  const context: Context = {
    stdout: { write: write(out), columns: world.columns ?? 100 },
    stderr: { write: write(err) },
    stdin,
    env: world.env ?? {},
    examplesDir: new URL("../../examples", import.meta.url).pathname,
    stop: world.stop ?? new AbortController().signal,
    serverWaitMs: world.serverWaitMs ?? 0,
    openServer:
      world.openServer ??
      (async () => {
        throw Object.assign(new Error("The data folder is in use."), { kind: "folder_taken" });
      }),
  };
  const code = await runCli(args, context);
  return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() };
}
