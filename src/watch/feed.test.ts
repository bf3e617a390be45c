import { expect, it } from "vitest";
import type { TrackStep } from "#judge/track.ts";
import type { AnyTablePart } from "#model/batch.ts";
import { createRows } from "#model/tables.ts";
import { feedParts } from "./feed.ts";
import type { TrackSink } from "./run-watch.ts";

function recorder(): TrackSink & { readonly steps: bigint[] } {
  const ignore = () => undefined;
  const steps: bigint[] = [];
  const addStep = ({ step }: TrackStep) => steps.push(step);
  return { heardNs: 0n, steps, addStep, addPoints: ignore, addWait: ignore, addCheckpoint: ignore };
}

const hearNumbers = () => undefined;

it("tells each of the runs that came together which step it is at, by a metric that no rule looks at", () => {
  const rows = createRows("metrics");
  const points = [
    ["run a", "speed", 1],
    ["run b", "speed", 7],
    ["run a", "speed", 2],
    ["run b", "memory", 8],
  ] as const;
  for (const [group, key, step] of points) {
    rows.group_key.push(group);
    rows.key.push(key);
    rows.worker.push("w");
    rows.step.present().pushNumber(step);
    rows.ts_ns.pushNumber(step);
    rows.value.present().push(1);
    rows.received_ns.pushNumber(step * 100);
  }
  const tracks = new Map([
    ["run a", recorder()],
    ["run b", recorder()],
  ]);
  const arrivals: [string, bigint][] = [];
  const trackOf = (key: string, arrivedNs: bigint) => {
    arrivals.push([key, arrivedNs]);
    return tracks.get(key);
  };
  const ports = { trackOf, isWatched: () => false, hearNumbers, receivedNs: 5n };
  feedParts([{ table: "metrics", rows, dropped: null }], ports);
  expect(tracks.get("run a")?.steps).toEqual([2n]);
  expect(tracks.get("run b")?.steps).toEqual([7n, 8n]);
  expect(arrivals).toEqual([
    ["run a", 100n],
    ["run b", 700n],
  ]);
  expect([...tracks.values()].map(({ heardNs }) => heardNs)).toEqual([5n, 5n]);
});

it("tells once what all metrics of an event say, however many they are", () => {
  const rows = createRows("metrics");
  for (const step of [1, 2])
    for (let key = 0; key < 50; key++) {
      rows.group_key.push("run a");
      rows.key.push(`metric ${step}.${key}`);
      rows.worker.push("w");
      rows.step.present().pushNumber(step);
      rows.ts_ns.pushNumber(step);
      rows.value.present().push(1);
      rows.received_ns.pushNumber(step);
    }
  const track = recorder();
  feedParts([{ table: "metrics", rows, dropped: null }], {
    trackOf: () => track,
    isWatched: () => false,
    hearNumbers,
    receivedNs: 5n,
  });
  expect(track.steps).toEqual([1n, 2n]);
});

it("asks for a run's memory once however many tables it fills, and again for what is older or no longer plain", () => {
  const toPart = (table: "metrics" | "logs" | "events", receivedNs: number) => {
    const rows = createRows(table);
    rows.group_key.push("run a");
    rows.received_ns.pushNumber(receivedNs);
    return { table, rows, dropped: null } as AnyTablePart;
  };
  const asked: [bigint, boolean][] = [];
  const trackOf = (_: string, arrivedNs: bigint, isPlain: boolean) => {
    asked.push([arrivedNs, isPlain]);
    return undefined;
  };
  const ports = { trackOf, isWatched: () => false, hearNumbers, receivedNs: 9n };
  feedParts([toPart("logs", 5), toPart("logs", 6), toPart("logs", 4), toPart("events", 4), toPart("logs", 8)], ports);
  expect(asked).toEqual([
    [5n, true],
    [4n, true],
    [4n, false],
  ]);
});

it("tells the numbers of events that are new, and not those of copies", () => {
  const rows = createRows("seq_ranges");
  for (const [first, last, events] of [
    [1, 4, 4],
    [2, 3, 0],
  ] as const) {
    rows.group_key.push("run a");
    rows.worker.push("w");
    rows.first_seq.pushNumber(first);
    rows.last_seq.pushNumber(last);
    rows.events.push(events);
    rows.received_ns.pushNumber(1);
  }
  const heard: unknown[] = [];
  const ports = { trackOf: () => undefined, isWatched: () => false, receivedNs: 9n };
  feedParts([{ table: "seq_ranges", rows, dropped: null }], { ...ports, hearNumbers: (...told) => heard.push(told) });
  expect(heard).toEqual([["run a", "w", 1n, 4n]]);
});

it("gives the points of a series that stand side by side together, without those that have no value or are copies", () => {
  const rows = createRows("metrics");
  const points = [
    ["run a", "loss", "w", 1],
    ["run a", "loss", "w", 2],
    ["run a", "loss", "w", null],
    ["run a", "loss", "w", 4],
    ["run a", "loss", "w", 5],
    ["run a", "loss", "v", 6],
    ["run b", "loss", "v", 7],
    ["run b", "speed", "v", 8],
    ["run b", "loss", "v", 9],
    ["run b", "loss", "v", 10],
  ] as const;
  for (const [at, [group, key, worker, value]] of points.entries()) {
    rows.group_key.push(group);
    rows.key.push(key);
    rows.phase.push("");
    rows.worker.push(worker);
    rows.step.present().pushNumber(at);
    rows.ts_ns.pushNumber(at);
    if (value === null) rows.value.pushNull();
    else rows.value.present().push(value);
    rows.received_ns.pushNumber(1);
  }
  const dropped = new Uint8Array(points.length);
  dropped[4] = 1;
  const given: number[][] = [];
  const track: TrackSink = {
    ...recorder(),
    addPoints: ({ value }, from, to) => given.push([...value.inner.values.subarray(from, to)]),
  };
  const isWatched = (key: string) => key === "loss";
  feedParts([{ table: "metrics", rows, dropped }], { trackOf: () => track, isWatched, hearNumbers, receivedNs: 5n });
  expect(given).toEqual([[1, 2], [4], [6], [7], [9, 10]]);
});
