import { expect, onTestFinished, test, vi } from "vitest";
import type { LiveEntry } from "./events.ts";
import { type FeedPort, type FeedSink, LiveFanIn } from "./fan-in.ts";
import { LiveHub, type LiveInterest, type LiveMessage } from "./hub.ts";

function entry(position: number, run: string): LiveEntry {
  const row = { run_id: run, group_key: `default/x/${run}`, protocol: "xtrack", deleted_ns: 0n, workspace: "default" };
  const state = [{ table: "groups", row } as never];
  return {
    position,
    workspace: "default",
    batch: { first: position, position, parts: [], state, bytes: 10 },
    runOf: () => run,
  };
}

/** Collector `a`, whose subscribers also get what `b` has; the way between them can be cut. */
function createPair() {
  const [a, b] = [new LiveHub("a", 0), new LiveHub("b", 10)];
  const opened: LiveInterest[] = [];
  const sinks: FeedSink[] = [];
  const state = { isUp: true, applied: 10 };
  const port: FeedPort = {
    peers: () => (state.isUp ? [{ id: "b", applied: state.applied }] : []),
    open(_peer, interest, sink) {
      opened.push(interest);
      sinks.push(sink);
      return b.subscribe(interest, { send: (messages) => sink.send(messages), backlogBytes: () => 0 });
    },
  };
  return { a, b, opened, sinks, state, fanIn: new LiveFanIn(a, port) };
}

function watch(fanIn: LiveFanIn, after: string | null) {
  const messages: LiveMessage[] = [];
  const state = { backlog: 0 };
  const sink = { send: (more: readonly LiveMessage[]) => messages.push(...more), backlogBytes: () => state.backlog };
  return { messages, state, subscription: fanIn.subscribe({ workspace: "default", runs: [], after }, sink) };
}

const told = (messages: readonly LiveMessage[]) => messages.map(({ name, id }) => `${name} ${id}`);

test("events of both come with the positions of both, the sender's first", () => {
  const { a, b, fanIn } = createPair();
  const { messages } = watch(fanIn, null);
  a.publish(entry(1, "x"));
  b.publish(entry(11, "y"));
  expect(told(messages)).toEqual([
    "hello a-0,b-10",
    "run a-1,b-10",
    "changed a-1,b-10",
    "run b-11,a-1",
    "changed b-11,a-1",
  ]);
  expect(messages[0]?.data).toEqual({ as_of: "a-0,b-10" });
});

test("goes on at each collector from its own position", () => {
  const { a, b, fanIn } = createPair();
  for (const position of [1, 2]) a.publish(entry(position, "x"));
  for (const position of [11, 12]) b.publish(entry(position, "y"));
  const { messages } = watch(fanIn, "a-1,b-11");
  expect(told(messages).filter((text) => text.startsWith("changed"))).toEqual(["changed a-2,b-11", "changed b-12,a-2"]);
});

test("a collector that is lost is told as skipped, and goes on where it ended when it is back", () => {
  const { b, fanIn, opened, state } = createPair();
  const { messages } = watch(fanIn, null);
  b.publish(entry(11, "y"));
  state.isUp = false;
  fanIn.peerWent("b");
  b.publish(entry(12, "y"));
  expect(messages.at(-1)).toMatchObject({ name: "skipped", data: { from: "b-11", to: "b-11" } });
  fanIn.peerCame({ id: "b", applied: 12 });
  expect(opened.at(-1)?.after).toBe("b-11");
  expect(messages.at(-1)?.id).toBe("b-12,a-0");
});

test("a collector that the answer did not know is told as skipped, and followed from now on", () => {
  const { b, fanIn, state } = createPair();
  b.publish(entry(11, "y"));
  state.applied = 11;
  const { messages } = watch(fanIn, "a-0");
  b.publish(entry(12, "y"));
  expect(told(messages)).toEqual(["hello a-0,b-11", "skipped b-11,a-0", "run b-12,a-0", "changed b-12,a-0"]);
});

test("a feed that lost a message is opened again from the last one seen", () => {
  const { b, fanIn, opened, sinks } = createPair();
  const { messages } = watch(fanIn, null);
  b.publish(entry(11, "y"));
  const before = messages.length;
  sinks[0]?.broken();
  expect(opened.map(({ after }) => after)).toEqual(["b-10", "b-11"]);
  expect(messages.length).toBe(before);
});

test("a subscriber that does not keep up is told which range of which collector it missed", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { b, fanIn } = createPair();
  const { messages, state } = watch(fanIn, null);
  const skipped = () => messages.filter(({ name }) => name === "skipped").map(({ data }) => data);
  const fallBehind = (position: number): void => {
    state.backlog = 5 * 1024 * 1024;
    b.publish(entry(position, "y"));
    b.publish(entry(position + 1, "y"));
    state.backlog = 0;
  };
  fallBehind(11);
  b.publish(entry(13, "y"));
  expect(skipped()).toMatchObject([{ from: "b-10", to: "b-12" }]);
  fallBehind(14);
  vi.advanceTimersByTime(2000);
  expect(skipped().slice(1)).toMatchObject([{ from: "b-13", to: "b-15" }]);
  expect(vi.getTimerCount()).toBe(0);
});

test("nothing comes after it is closed", () => {
  const { a, b, fanIn } = createPair();
  const { messages, subscription } = watch(fanIn, null);
  subscription.close();
  a.publish(entry(1, "x"));
  b.publish(entry(11, "y"));
  fanIn.peerWent("b");
  expect(told(messages)).toEqual(["hello a-0,b-10"]);
});
