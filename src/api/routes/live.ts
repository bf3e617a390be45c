// GET /live: what just happened, as server-sent events.

import { once } from "node:events";
import type { ApiContext, Route } from "#api/context.ts";
import { FileBody } from "#api/handler.ts";
import { formatJson } from "#base/json/format.ts";
import type { JsonValue } from "#base/json/value.ts";
import type { LiveMessage } from "#live/hub.ts";
import { findRun } from "#query/runs/find-run.ts";

/** Proxies drop connections that say nothing: the statistics also keep this one open. */
const statsMs = 1000;

export const liveRoute: Route<"live"> = async (context, { query, caller, signal, lastEventId }) => {
  const runs: string[] = [];
  for (const id of query.run ?? []) runs.push((await findRun(context.sources, caller.workspace, id))?.runId ?? id);
  const after = lastEventId ?? query.after ?? null;
  return new FileBody("text/event-stream", stream(context, caller.workspace, runs, after, signal));
};

const textEncoder = new TextEncoder();

async function* stream(
  context: ApiContext,
  workspace: string,
  runs: readonly string[],
  after: string | null,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let wake: () => void = () => {};
  const send = (messages: readonly LiveMessage[]): void => {
    const bytes = textEncoder.encode(messages.map(formatMessage).join(""));
    waiting.push(bytes);
    waitingBytes += bytes.length;
    wake();
  };
  const subscription = context.hub.subscribe({ workspace, runs, after }, { send, backlogBytes: () => waitingBytes });
  const timer = setInterval(() => {
    const data = { as_of: context.asOf(), ...context.liveStats() };
    send([{ id: "", name: "stats", data }]);
  }, statsMs);
  const ended = once(signal, "abort");
  try {
    while (!signal.aborted) {
      if (waiting.length === 0) await Promise.race([ended, new Promise<void>((resolve) => (wake = resolve))]);
      const ready = waiting;
      waiting = [];
      waitingBytes = 0;
      yield* ready;
    }
  } finally {
    clearInterval(timer);
    subscription.close();
  }
}

/** JSON text has no newline, so each event is one data line. */
function formatMessage({ id, name, data }: LiveMessage): string {
  return `${id === "" ? "" : `id: ${id}\n`}event: ${name}\ndata: ${formatData(name, data)}\n\n`;
}

/** Only values of metrics may be a negative zero, whose sign JSON.stringify drops. */
function formatData(name: string, data: unknown): string {
  return name === "metrics" ? formatJson(data as JsonValue, "strict") : JSON.stringify(data);
}
