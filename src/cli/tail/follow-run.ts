// Follows a run's events from an answer on, across restarts of the server, until the run has ended and everything before
// its end has been told.

import { setTimeout as sleep } from "node:timers/promises";
import type { LiveEvent } from "#api/contract/live.ts";
import type { Run } from "#api/contract/run.ts";
import { isToldUpTo, readEvents } from "#api/server-events.ts";
import { isAway } from "#cli/away.ts";
import { ApiError, type Client } from "#cli/client.ts";
import { Exit } from "#cli/exit.ts";

export interface Follower {
  take(event: LiveEvent): void;
  /** What is known of the run now. */
  know(run: Run): void;
  /** The server does not answer and is waited for; said once. */
  away(): void;
}

const lookMs = 5000;
/** A run that gets many records a second is not asked about after each. */
const restMs = 250;
const awayMs = 1000;
const ended = new Set(["completed", "failed", "killed", "lost", "unknown"]);

/** Returns what was last known of the run, when it has ended or `stop` says so. */
export async function followRun(client: Client, run: Run, stop: AbortSignal, on: Follower): Promise<Run> {
  let last = run;
  // What was answered says up to where it knows; the stream goes on from exactly there.
  let after = run.as_of;
  let isWaiting = false;
  /** Up to where the stream has to be read, once the run has ended. */
  let end: string | null = null;
  const ask = () => client.call("run", { params: { id: run.id } });
  const look = async () => {
    last = await ask();
    if (!ended.has(last.status)) {
      end = null;
      on.know(last);
    } else if (end === null) {
      // An answer may know of more than the moment it is dated by. The date of the next one covers all of it.
      last = await ask();
      end = last.as_of;
    }
  };
  const hasEnded = () => end !== null;
  const readStream = async () => {
    let isStale = false;
    let lookedMs = 0;
    for await (const event of readWhile(client, { run: [run.id], after, missed: "1" }, stop, { look, hasEnded })) {
      if (event.id !== "") after = event.id;
      isWaiting = false;
      on.take(event);
      isStale ||= event.name === "run" || event.name === "changed" || event.name === "gone";
      // An event may be told before an answer knows of it. What the stream says is known is known to the next answer.
      const isKnown = event.name === "stats" && isToldUpTo(event.data.as_of, after);
      if (isStale && (isKnown || performance.now() - lookedMs > restMs)) {
        isStale = !isKnown;
        lookedMs = performance.now();
        await look();
      }
      if (event.name === "stats" && end !== null && isToldUpTo(event.data.as_of, end)) return true;
    }
    await look();
    return false;
  };
  if (ended.has(run.status)) return run;
  try {
    while (true) {
      try {
        if (await readStream()) return last;
      } catch (error) {
        if (!isAway(error)) throw error;
        if (hasEnded()) return last;
        if (!isWaiting) on.away();
        isWaiting = true;
        await sleep(awayMs, undefined, { signal: stop });
      }
    }
  } catch (error) {
    if (!stop.aborted) throw error;
    return last;
  }
}

interface Looking {
  look(): Promise<void>;
  hasEnded(): boolean;
}

/** The events, until the stream ends. No event tells that a run has been silent for too long, so that is looked for. */
async function* readWhile(
  client: Client,
  query: { readonly run: string[]; readonly after: string; readonly missed: "1" },
  stop: AbortSignal,
  { look, hasEnded }: Looking,
): AsyncGenerator<LiveEvent> {
  const over = new AbortController();
  const signal = AbortSignal.any([stop, over.signal]);
  const timer = setInterval(() => {
    // What has not told the rest by now is a dead connection.
    if (hasEnded()) over.abort();
    // A server that is away ends the stream, too.
    else look().catch(() => undefined);
  }, lookMs);
  try {
    yield* readEvents(await client.open("live", { query }, { signal }));
  } catch (error) {
    stop.throwIfAborted();
    // The rest is a connection that broke.
    if (error instanceof ApiError || error instanceof Exit) throw error;
  } finally {
    clearInterval(timer);
    over.abort();
  }
}
