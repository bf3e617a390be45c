// The live stream: one connection for the page, following the run that is open. It reconnects by itself, goes on
// from the last event it saw, and tells listeners how it is doing.

import type { LiveEvent, LiveEventName } from "#api/contract/live.ts";
import { urlOf } from "./client.ts";

export type LiveState = "connecting" | "open" | "waiting";

export interface LiveSnapshot {
  readonly state: LiveState;
  readonly eventsPerSecond: number;
  readonly waitingEvents: number;
  /** When the state last changed. */
  readonly sinceMs: number;
  /** Rows of the followed run are streamed from after this id; an answer from before it may lack some. */
  readonly startId: string;
}

type Listener = (event: LiveEvent) => void;

const names: readonly LiveEventName[] = [
  "hello",
  "run",
  "changed",
  "metrics",
  "logs",
  "command",
  "gone",
  "skipped",
  "stats",
];
const retryMsMax = 15_000;
/** Rows are streamed when they are durable and queryable a moment later, so a view that opens now must know them. */
const backlogEvents = 2_000;

export interface LiveStream {
  follow(run: string | null): void;
  /** Hears every event from now on, and first the recent rows of the followed run. */
  listen(listener: Listener): () => void;
  subscribe(changed: () => void): () => void;
  snapshot(): LiveSnapshot;
  close(): void;
}

export function createLiveStream(): LiveStream {
  const listeners = new Set<Listener>();
  const watchers = new Set<() => void>();
  let backlog: LiveEvent[] = [];
  let run: string | null = null;
  let source: EventSource | null = null;
  let lastId = "";
  let retries = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: LiveSnapshot = {
    state: "connecting",
    eventsPerSecond: 0,
    waitingEvents: 0,
    sinceMs: Date.now(),
    startId: "",
  };

  function update(part: Partial<LiveSnapshot>): void {
    const sinceMs = part.state !== undefined && part.state !== current.state ? Date.now() : current.sinceMs;
    current = { ...current, ...part, sinceMs };
    for (const watcher of watchers) watcher();
  }

  function receive(name: LiveEventName, message: MessageEvent<string>): void {
    if (message.lastEventId !== "") lastId = message.lastEventId;
    const event = { name, id: message.lastEventId, data: JSON.parse(message.data) } as LiveEvent;
    if (event.name === "stats") {
      update({ eventsPerSecond: event.data.events_per_s, waitingEvents: event.data.waiting_events });
    }
    if (event.name === "hello" && current.startId === "") update({ startId: event.data.as_of });
    if (event.name === "metrics" || event.name === "logs") {
      backlog.push(event);
      if (backlog.length > 2 * backlogEvents) backlog = backlog.slice(-backlogEvents);
    }
    for (const listener of listeners) listener(event);
  }

  function open(): void {
    source?.close();
    clearTimeout(timer);
    const query = { ...(run === null ? {} : { run: [run] }), ...(lastId === "" ? {} : { after: lastId }) };
    const opened = new EventSource(urlOf("live", { query }));
    source = opened;
    opened.onopen = () => {
      retries = 0;
      update({ state: "open" });
    };
    // The browser's own retry gives up on an HTTP error, so we close and retry ourselves with growing waits.
    opened.onerror = () => {
      opened.close();
      if (source !== opened) return;
      update({ state: "waiting", eventsPerSecond: 0 });
      timer = setTimeout(open, Math.min(retryMsMax, 500 * 2 ** retries++));
    };
    for (const name of names) {
      opened.addEventListener(name, (message) => receive(name, message as MessageEvent<string>));
    }
  }

  open();
  return {
    follow(next) {
      if (next === run) return;
      run = next;
      lastId = "";
      backlog = [];
      update({ startId: "" });
      open();
    },
    listen(listener) {
      for (const event of backlog) listener(event);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    subscribe(changed) {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    snapshot: () => current,
    close() {
      clearTimeout(timer);
      source?.close();
      source = null;
    },
  };
}
