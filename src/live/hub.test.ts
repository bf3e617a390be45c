import { expect, onTestFinished, test, vi } from "vitest";
import { createRows } from "#model/tables.ts";
import type { LiveEntry } from "./events.ts";
import { LiveHub, type LiveMessage } from "./hub.ts";

function metricEntry(position: number, run: string, value: number, first = position): LiveEntry {
  const rows = createRows("metrics");
  rows.group_key.push(`default/x/${run}`);
  rows.key.push("loss");
  rows.worker.push("");
  rows.phase.push("train");
  rows.step.present().pushNumber(position);
  rows.epoch.pushNull();
  rows.ts_ns.pushNumber(position * 1000);
  rows.value.present().push(value);
  const parts = [{ table: "metrics" as const, rows, dropped: null }];
  const batch = { first, position, parts, state: [], bytes: 100 };
  return { position, workspace: "default", batch, runOf: (key) => key.split("/")[2] };
}

function watcher(backlog = 0) {
  const messages: LiveMessage[] = [];
  const state = { backlog };
  return {
    messages,
    state,
    sink: { send: (more: readonly LiveMessage[]) => messages.push(...more), backlogBytes: () => state.backlog },
  };
}

function names(messages: readonly LiveMessage[]): string[] {
  return messages.map((message) => `${message.name} ${message.id}`);
}

test("a subscriber of a run gets its rows, exact and by columns", () => {
  const hub = new LiveHub("c1", 0);
  const { messages, sink } = watcher();
  hub.subscribe({ workspace: "default", runs: ["a"], after: null }, sink);
  hub.publish(metricEntry(1, "a", Number.NaN));
  hub.publish(metricEntry(2, "b", 1));
  expect(names(messages)).toEqual(["hello c1-0", "changed c1-1", "metrics c1-1"]);
  expect(messages[2]?.data).toMatchObject({ run: "a", key: ["loss"], step: ["1"], value: ["NaN"], ts_ns: ["1000"] });
});

test("says whether a run is looked at", () => {
  const hub = new LiveHub("c1", 0);
  const isFollowed = (workspace: string, run: string): boolean => hub.isFollowed(workspace, () => run);
  hub.subscribe({ workspace: "default", runs: [], after: null }, watcher().sink);
  expect(isFollowed("default", "a")).toBe(false);
  const subscription = hub.subscribe({ workspace: "default", runs: ["a"], after: null }, watcher().sink);
  expect([isFollowed("default", "a"), isFollowed("default", "b"), isFollowed("other", "a")]).toEqual([
    true,
    false,
    false,
  ]);
  subscription.close();
  expect(isFollowed("default", "a")).toBe(false);
});

test("query then subscribe neither misses nor doubles", () => {
  const hub = new LiveHub("c1", 0);
  for (let position = 1; position <= 5; position++) hub.publish(metricEntry(position, "a", position));
  const { messages, sink } = watcher();
  hub.subscribe({ workspace: "default", runs: [], after: "c1-3" }, sink);
  hub.publish(metricEntry(6, "a", 6));
  expect(names(messages)).toEqual(["hello c1-3", "changed c1-4", "changed c1-5", "changed c1-6"]);
});

test("says which range is no longer kept", () => {
  const hub = new LiveHub("c1", 10);
  hub.publish(metricEntry(11, "a", 1));
  const { messages, sink } = watcher();
  hub.subscribe({ workspace: "default", runs: [], after: "c1-4" }, sink);
  expect(messages[1]).toMatchObject({ name: "skipped", data: { from: "c1-4", to: "c1-10" } });
  expect(names(messages.slice(2))).toEqual(["changed c1-11"]);
});

test("keeps a quarter of what it may when nothing has come for a while, the newest", () => {
  const hub = new LiveHub("c1", 0, true, 40_000);
  for (let position = 1; position <= 8; position++) hub.publish(metricEntry(position, "a", position));
  expect(hub.keptFrom).toBe(1);
  hub.rest();
  expect(hub.keptFrom).toBe(7);
  hub.rest();
  expect(hub.keptFrom).toBe(7);
});

test("keeps more than that only for some seconds", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const hub = new LiveHub("c1", 0, true, 80_000);
    for (let position = 1; position <= 8; position++) hub.publish(metricEntry(position, "a", position));
    vi.advanceTimersByTime(9_000);
    for (let position = 9; position <= 12; position++) hub.publish(metricEntry(position, "a", position));
    expect(hub.keptFrom).toBe(1);
    vi.advanceTimersByTime(2_000);
    hub.publish(metricEntry(13, "a", 13));
    expect(hub.keptFrom).toBe(9);
    vi.advanceTimersByTime(60_000);
    expect(hub.keptFrom).toBe(9);
    for (let position = 14; position <= 15; position++) hub.publish(metricEntry(position, "a", position));
    // A quarter, the newest.
    expect(hub.keptFrom).toBe(12);
  } finally {
    vi.useRealTimers();
  }
});

test("a batch of several records is no gap to a subscriber who stands before the first of them", () => {
  const hub = new LiveHub("c1", 10);
  hub.publish(metricEntry(14, "a", 1, 11));
  const [before, earlier] = [watcher(), watcher()];
  hub.subscribe({ workspace: "default", runs: [], after: "c1-10" }, before.sink);
  hub.subscribe({ workspace: "default", runs: [], after: "c1-9" }, earlier.sink);
  expect(names(before.messages)).toEqual(["hello c1-10", "changed c1-14"]);
  expect(earlier.messages[1]).toMatchObject({ name: "skipped", data: { from: "c1-9", to: "c1-10" } });
  before.state.backlog = 1e9;
  hub.publish(metricEntry(17, "a", 2, 15));
  before.state.backlog = 0;
  hub.publish(metricEntry(20, "a", 3, 18));
  expect(before.messages[2]).toMatchObject({ name: "skipped", data: { from: "c1-14", to: "c1-17" } });
});

test("a subscriber that does not keep up costs nothing and is told what it missed", () => {
  const hub = new LiveHub("c1", 0);
  const { messages, sink, state } = watcher();
  hub.subscribe({ workspace: "default", runs: [], after: null }, sink);
  state.backlog = 1e9;
  hub.publish(metricEntry(1, "a", 1));
  hub.publish(metricEntry(2, "a", 2));
  state.backlog = 0;
  hub.publish(metricEntry(3, "a", 3));
  expect(messages[1]).toMatchObject({ name: "skipped", data: { from: "c1-0", to: "c1-2" } });
  expect(names(messages.slice(2))).toEqual(["changed c1-3"]);
});

test("tells a subscriber that has caught up what it missed, although nothing more comes", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const hub = new LiveHub("c1", 0);
  const { messages, sink, state } = watcher();
  hub.subscribe({ workspace: "default", runs: [], after: null }, sink);
  state.backlog = 1e9;
  for (const position of [1, 2]) hub.publish(metricEntry(position, "a", 1));
  vi.advanceTimersByTime(2000);
  expect(messages).toHaveLength(1);
  state.backlog = 0;
  vi.advanceTimersByTime(2000);
  expect(messages.slice(1)).toMatchObject([{ id: "c1-2", name: "skipped", data: { from: "c1-0", to: "c1-2" } }]);
  expect(vi.getTimerCount()).toBe(0);
});

test("tells a run that is new, one that changed and one that was deleted", () => {
  const hub = new LiveHub("c1", 0);
  hub.know("default/old");
  const { messages, sink } = watcher();
  hub.subscribe({ workspace: "default", runs: [], after: null }, sink);
  const row = {
    group_key: "default/x/r",
    workspace: "default",
    protocol: "xtrack",
    session_id: "",
    root_kind: "",
    rank: 0,
  };
  const rest = { pipeline_id: null, deployment_id: null, model_id: null, forked: 0, imported: 0, version: 1n };
  for (const [at, [run_id, deleted_ns]] of (
    [
      ["old", 0n],
      ["new", 0n],
      ["new", 5n],
      ["new", 0n],
    ] as const
  ).entries()) {
    const state = [{ table: "groups" as const, row: { ...row, ...rest, run_id, deleted_ns } }];
    const batch = { first: at + 1, position: at + 1, parts: [], state, bytes: 1 };
    hub.publish({ position: at + 1, workspace: "default", batch, runOf: () => undefined });
  }
  const heads = messages.filter((message) => message.name === "run" || message.name === "gone");
  expect(heads.map((message) => message.data)).toEqual([
    { id: "old", name: "old", status: "running", first: false },
    { id: "new", name: "new", status: "running", first: true },
    { run: "new" },
    { id: "new", name: "new", status: "running", first: true },
  ]);
});

test("other workspaces see nothing", () => {
  const hub = new LiveHub("c1", 0);
  const { messages, sink } = watcher();
  hub.subscribe({ workspace: "other", runs: ["a"], after: null }, sink);
  hub.publish(metricEntry(1, "a", 1));
  expect(names(messages)).toEqual(["hello c1-0"]);
});
