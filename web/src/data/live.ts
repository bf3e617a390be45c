// The live stream: one connection for the page, following the run that is open. It reconnects by itself, goes on
// from the last event it saw, and tells listeners how it is doing.

import type { LiveEvent, LiveEventName } from "#api/contract/live.ts";
import { createListeners } from "../part/listeners.ts";
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

const rowNames = ["metrics", "logs", "command", "alert"] as const;
const names: readonly LiveEventName[] = ["hello", "run", "changed", ...rowNames, "gone", "skipped", "stats"];
const retryMsMax = 15_000;
/** A browser opens few connections to one server, so a page that nobody sees gives its own back after a while. */
const hiddenMs = 30_000;
/** The server says something every second. A connection silent for this long is dead, even if nobody closed it. */
const silentMs = 15_000;
/** Rows are streamed once durable and can be queried a moment later, so a view that opens in between needs them. */
const backlogEvents = 2_000;

export interface LiveStream {
  follow(run: string | null): void;
  /** Hears every event from now on, and first the recent rows of the followed run. */
  listen(listener: Listener): () => void;
  subscribe(changed: () => void): () => void;
  snapshot(): LiveSnapshot;
  close(): void;
}

const unknown: LiveSnapshot = { state: "connecting", eventsPerSecond: 0, waitingEvents: 0, sinceMs: 0, startId: "" };

export function createLiveStream(): LiveStream {
  const hearers = createHearers();
  const watchers = createListeners();
  let run: string | null = null;
  let source: { close(): void } | null = null;
  let lastId = "";
  let retries = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: LiveSnapshot = { ...unknown, sinceMs: Date.now() };

  function update(part: Partial<LiveSnapshot>): void {
    const sinceMs = part.state !== undefined && part.state !== current.state ? Date.now() : current.sinceMs;
    current = { ...current, ...part, sinceMs };
    watchers.tell();
  }

  function receive(name: LiveEventName, message: MessageEvent<string>): void {
    if (message.lastEventId !== "") lastId = message.lastEventId;
    const event = { name, id: message.lastEventId, data: JSON.parse(message.data) } as LiveEvent;
    if (event.name === "stats") {
      update({ eventsPerSecond: event.data.events_per_s, waitingEvents: event.data.waiting_events });
    }
    if (event.name === "hello" && current.startId === "") update({ startId: event.data.as_of });
    hearers.tell(event);
  }

  function open(): void {
    source?.close();
    clearTimeout(timer);
    const opened = connect(run, lastId, {
      open() {
        retries = 0;
        update({ state: "open" });
      },
      event: receive,
      lost() {
        if (source !== opened) return;
        update({ state: "waiting", eventsPerSecond: 0 });
        timer = setTimeout(open, Math.min(retryMsMax, 500 * 2 ** retries++));
      },
    });
    source = opened;
  }

  const unwatch = watchVisible({
    sleep() {
      clearTimeout(timer);
      source?.close();
      source = null;
      update({ state: "connecting", eventsPerSecond: 0 });
    },
    wake() {
      if (source === null) open();
    },
  });
  open();
  return {
    follow(next) {
      if (next === run) return;
      run = next;
      lastId = "";
      hearers.forget();
      update({ startId: "" });
      open();
    },
    listen: hearers.listen,
    subscribe: watchers.subscribe,
    snapshot: () => current,
    close() {
      unwatch();
      clearTimeout(timer);
      source?.close();
      source = null;
    },
  };
}

/** Who listens, and the recent rows for those who begin to. */
function createHearers() {
  const listeners = new Set<Listener>();
  let backlog: LiveEvent[] = [];
  return {
    tell(event: LiveEvent): void {
      if (event.name === "metrics" || event.name === "logs") {
        backlog.push(event);
        if (backlog.length > 2 * backlogEvents) backlog = backlog.slice(-backlogEvents);
      }
      for (const listener of listeners) listener(event);
    },
    listen(listener: Listener): () => void {
      for (const event of backlog) listener(event);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    forget(): void {
      backlog = [];
    },
  };
}

interface Handlers {
  open(): void;
  event(name: LiveEventName, message: MessageEvent<string>): void;
  lost(): void;
}

function connect(run: string | null, after: string, on: Handlers): { close(): void } {
  const query = { ...(run === null ? {} : { run: [run] }), ...(after === "" ? {} : { after }) };
  const source = new EventSource(urlOf("live", { query }));
  let heard: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    clearTimeout(heard);
    source.close();
  };
  // The browser's own retry gives up on an HTTP error, so it is closed and opened again with growing waits.
  const lose = () => {
    close();
    on.lost();
  };
  const hear = () => {
    clearTimeout(heard);
    heard = setTimeout(lose, silentMs);
  };
  hear();
  source.onopen = () => on.open();
  source.onerror = lose;
  for (const name of names) {
    source.addEventListener(name, (message) => {
      hear();
      on.event(name, message as MessageEvent<string>);
    });
  }
  return { close };
}

/** `sleep` when the page has been out of sight for a while, `wake` when it is seen again. */
function watchVisible({ sleep, wake }: { sleep(): void; wake(): void }): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onChange = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(sleep, hiddenMs);
    else wake();
  };
  document.addEventListener("visibilitychange", onChange);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onChange);
  };
}
