// GET /live: what just happened, as server-sent events.

import { once } from "node:events";
import type { ApiContext, Route } from "#api/context.ts";
import type { LiveEvent } from "#api/contract/live.ts";
import { FileBody } from "#api/handler.ts";
import { formatJson } from "#base/json/format.ts";
import type { JsonValue } from "#base/json/value.ts";
import type { LiveInterest, LiveMessage } from "#live/hub.ts";
import { findRun } from "#query/runs/find-run.ts";
import { tellMissed, toArrived } from "./live-missed.ts";

/** Proxies drop connections that say nothing: the statistics also keep this one open. */
const statsMs = 1000;

export const liveRoute: Route<"live"> = async (context, { query, caller, signal, lastEventId }) => {
  const runs: string[] = [];
  for (const id of query.run ?? []) runs.push((await findRun(context.sources, caller.workspace, id))?.runId ?? id);
  const after = lastEventId ?? query.after ?? null;
  const interest = { workspace: caller.workspace, runs, after };
  return new FileBody("text/event-stream", stream(context, interest, query.missed === "1", signal));
};

const textEncoder = new TextEncoder();

async function* stream(
  context: ApiContext,
  interest: LiveInterest,
  wantsMissed: boolean,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let waiting: (Uint8Array | LiveMessage)[] = [];
  let waitingBytes = 0;
  let wake: () => void = () => {};
  const send = (messages: readonly LiveMessage[]): void => {
    const isMissed = ({ name }: LiveMessage): boolean => wantsMissed && name === "skipped";
    for (const message of messages.filter(isMissed)) waiting.push(message);
    const bytes = textEncoder.encode(
      messages
        .filter((one) => !isMissed(one))
        .map(formatMessage)
        .join(""),
    );
    waiting.push(bytes);
    waitingBytes += bytes.length;
    wake();
  };
  const subscription = context.hub.subscribe(interest, { send, backlogBytes: () => waitingBytes });
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
      for (const one of ready)
        if (one instanceof Uint8Array) yield one;
        else yield* formatMissed(context, interest, one);
    }
  } finally {
    clearInterval(timer);
    subscription.close();
  }
}

/** In place of `skipped`, as far as the store has what is missing. */
async function* formatMissed(
  context: ApiContext,
  { workspace, runs }: LiveInterest,
  skipped: LiveMessage,
): AsyncGenerator<Uint8Array> {
  const arrived = toArrived(context.asOf(), skipped.data as LiveEvent<"skipped">["data"]);
  if (arrived === null) yield textEncoder.encode(formatMessage(skipped));
  else
    for await (const message of tellMissed(context, workspace, runs, arrived, skipped.id))
      yield textEncoder.encode(formatMessage(message));
}

/** JSON text has no newline, so each event is one data line. */
function formatMessage({ id, name, data }: LiveMessage): string {
  return `${id === "" ? "" : `id: ${id}\n`}event: ${name}\ndata: ${formatData(name, data)}\n\n`;
}

/** Only values of metrics may be a negative zero, whose sign JSON.stringify drops. */
function formatData(name: string, data: unknown): string {
  return name === "metrics" ? formatJson(data as JsonValue, "strict") : JSON.stringify(data);
}
