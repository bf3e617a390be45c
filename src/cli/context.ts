// Everything outside of a command that it may touch, so that tests can replace it.

import { styleText } from "node:util";
import type { Config } from "#config/settings.ts";
import type { Log } from "#server/log.ts";

export interface Output {
  /** Returns false if the caller should wait for `drain`. */
  write(text: string | Uint8Array): unknown;
  once?(event: "drain", listener: () => void): unknown;
  on?(event: "error", listener: () => void): unknown;
  readonly fd?: number;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The whole server, opened in this process. */
export interface RunningServer {
  readonly url: string;
  /** Where XTrack workers connect. */
  readonly xtrack: readonly string[];
  /** Where OpenTelemetry exporters connect by gRPC; null when they cannot. */
  readonly otlp?: { readonly grpc: { readonly host: string; readonly port: number } | null };
  /** Drains and closes; resolves when the data folder is free. */
  close(): Promise<void>;
}

/** Opens a whole server; `isBrief` if it serves one command. Only `main` may join all rooms, so it provides this. */
export type OpenServer = (config: Config, log: Log, isBrief?: boolean) => Promise<RunningServer>;

export interface Context {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly openServer: OpenServer;
  /** How long a command waits for a server that holds the data folder and does not answer yet. */
  readonly serverWaitMs: number;
  /** Where the bundled samples and example programs are. */
  readonly examplesDir: string;
  /** Aborted when the person wants to stop: Ctrl-C, or a polite signal. */
  readonly stop: AbortSignal;
}

export type Style = Parameters<typeof styleText>[0];

/** Colours only where a person looks, and not when they said no. */
export function paint(output: Output, env: Context["env"], style: Style, text: string): string {
  const wanted = output.isTTY === true && env["NO_COLOR"] === undefined && env["TERM"] !== "dumb";
  return wanted ? styleText(style, text, { validateStream: false }) : text;
}

/** Output that is not a terminal is read by a program, or later by a person: nothing is cut for it. */
export function widthOf(output: Output): number {
  return output.columns ?? Number.POSITIVE_INFINITY;
}
