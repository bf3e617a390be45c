import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StateRow } from "#model/state-tables.ts";
import { type Command, summarize } from "./book.ts";
import { type CommandStep, fromCommandRow, toStateChange } from "./command.ts";
import {
  createRoom,
  createWorker,
  fromRecord,
  news,
  order,
  runId,
  settle,
  stateOf,
  workspace,
} from "./room.testing.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a command", () => {
  it("goes from queued to delivered to confirmed, with times, author and worker [XT-18]", async () => {
    const { control } = createRoom();
    control.ready();
    const command = await control.post(order({ worker: "w0" }));
    expect(command).toMatchObject({ type: "pause", author: "ada", payload: "{}" });
    expect(stateOf(control)).toBe("queued");
    const { got } = createWorker(control, "w0");
    await settle();
    expect(got).toEqual([{ cmdId: "c1", type: "pause", payload: "{}" }]);
    expect(stateOf(control)).toBe("delivered");
    control.observe(news({ kind: "ack", worker: "w0", cmdId: "c1", isOk: true, error: "" }));
    await settle();
    const summary = summarize(control.list(workspace, runId)[0] as never);
    expect(summary).toMatchObject({ state: "confirmed", note: "" });
    expect(summary.settledNs).toBeGreaterThan(summary.deliveredNs as bigint);
  });

  it("that is given again with its idempotency key is the same one, also after a restart, and is delivered once", async () => {
    const { control, journal } = createRoom();
    control.ready();
    const { got } = createWorker(control, "w0");
    const asked = order({ type: "custom", payload: { n: 1 }, idempotencyKey: "mine" });
    const [first, ...again] = await Promise.all([control.post(asked), control.post(asked)]);
    await settle();
    again.push(await control.post(asked));
    expect(again).toEqual([first, first]);
    expect([got.length, control.list(workspace, runId).length]).toEqual([1, 1]);
    const { control: later } = createRoom(journal);
    later.ready();
    expect(await later.post(asked)).toMatchObject({ cmdId: (first as Command).cmdId });
    const ids = [
      order({ ...asked, idempotencyKey: "other" }),
      order({ ...asked, runId: "r2" }),
      order({ ...asked, workspace: "elsewhere" }),
    ].map(async (one) => (await later.post(one)) as Command);
    expect(new Set((await Promise.all(ids)).map(({ cmdId }) => cmdId).concat((first as Command).cmdId)).size).toBe(4);
    expect(await later.post(order({ ...asked, payload: { n: 2 } }))).toMatchObject({ refused: "key_used" });
  });

  it("is told as answered once the journal has room again, though the worker says it only once", async () => {
    const { control, troubles, setFull } = createRoom();
    control.ready();
    createWorker(control, "w0");
    await control.post(order());
    await settle();
    setFull(true);
    control.observe(news({ kind: "ack", worker: "w0", cmdId: "c1", isOk: true, error: "" }));
    await vi.advanceTimersByTimeAsync(3000);
    expect([stateOf(control), troubles.length > 1]).toEqual(["delivered", true]);
    setFull(false);
    await vi.advanceTimersByTimeAsync(1100);
    expect(stateOf(control)).toBe("confirmed");
  });

  it("is refused by an ack with an error, and says what the worker said", async () => {
    const { control } = createRoom();
    control.ready();
    createWorker(control, "w0");
    await control.post(order({ type: "custom", payload: { anything: [1] } }));
    await settle();
    control.observe(news({ kind: "ack", worker: "w0", cmdId: "c1", isOk: false, error: "not now" }));
    await settle();
    expect(summarize(control.list(workspace, runId)[0] as never)).toMatchObject({ state: "refused", note: "not now" });
  });

  it.each([
    ["pause", "paused", "training"],
    ["resume", "resuming", "paused"],
    ["resume", "training", "paused"],
    ["resume", "running", "evaluating"],
    ["stop", "finishing", "training"],
    ["stop", "completed", "running"],
    ["stop", "killed", "running"],
    ["checkpoint_now", "checkpointing", "training"],
  ])("%s is confirmed by the status %s and not by %s", async (type, leadsTo, other) => {
    const { control } = createRoom();
    control.ready();
    createWorker(control, "w0");
    await control.post(order({ type }));
    await settle();
    control.observe(news({ kind: "status", worker: "w0", status: other }));
    control.observe(news({ kind: "status", worker: "w1", status: leadsTo }));
    await settle();
    expect(stateOf(control)).toBe("delivered");
    control.observe(news({ kind: "status", worker: "w0", status: leadsTo }));
    await settle();
    expect(stateOf(control)).toBe("confirmed");
  });

  it("is confirmed by a checkpoint when it asked for one, and by the end of the run when it asked to stop", async () => {
    const { control } = createRoom();
    control.ready();
    createWorker(control, "w0");
    await control.post(order({ type: "checkpoint_now" }));
    await control.post(order({ type: "stop" }));
    await control.post(order({ type: "adjust_lr", payload: { lr: 0.1 } }));
    await settle();
    control.observe(news({ kind: "checkpoint", worker: "w0" }));
    control.observe(news({ kind: "run_end", worker: "w0", status: "failed" }));
    await settle();
    expect([0, 1, 2].map((at) => stateOf(control, at))).toEqual(["confirmed", "confirmed", "expired"]);
  });

  it("is not confirmed by a status that came before it was delivered", async () => {
    const { control } = createRoom();
    control.ready();
    await control.post(order({ worker: "w0" }));
    control.observe(news({ kind: "status", worker: "w0", status: "paused" }));
    await settle();
    expect(stateOf(control)).toBe("queued");
  });

  it("expires when nobody takes it, and when nobody answers", async () => {
    const { control } = createRoom();
    control.ready();
    await control.post(order({ worker: "gone", expiresMs: 5000 }));
    createWorker(control, "w0");
    await control.post(order({ worker: "w0", expiresMs: 8000 }));
    await vi.advanceTimersByTimeAsync(4000);
    expect([stateOf(control, 0), stateOf(control, 1)]).toEqual(["queued", "delivered"]);
    await vi.advanceTimersByTimeAsync(1500);
    expect([stateOf(control, 0), stateOf(control, 1)]).toEqual(["expired", "delivered"]);
    await vi.advanceTimersByTimeAsync(4000);
    const notes = control.list(workspace, runId).map((command) => summarize(command).note);
    expect(notes).toEqual(["no worker took it in time", "no answer in time"]);
  });

  it("can be called back until it is delivered", async () => {
    const { control } = createRoom();
    control.ready();
    await control.post(order({ worker: "w0" }));
    expect(await control.cancel(workspace, "other", "c1", "bob")).toMatchObject({ refused: "unknown_command" });
    await control.cancel(workspace, runId, "c1", "bob");
    expect(summarize(control.list(workspace, runId)[0] as never)).toMatchObject({
      state: "cancelled",
      note: "cancelled by bob",
    });
    const { got } = createWorker(control, "w0");
    await control.post(order({ worker: "w0" }));
    await settle();
    expect(got.length).toBe(1);
    expect(await control.cancel(workspace, runId, "c2", "bob")).toMatchObject({ refused: "not_open" });
  });

  it("cannot be called back once every worker has it, also when it was for all of them", async () => {
    const { control, journal } = createRoom();
    control.ready();
    createWorker(control, "w0");
    await control.post(order({}));
    await settle();
    const before = journal.length;
    expect(await control.cancel(workspace, runId, "c1", "bob")).toMatchObject({ refused: "not_open" });
    expect(journal.length).toBe(before);
  });

  it.each([
    [{ type: "explode" }, "unknown_type"],
    [{ type: "adjust_lr", payload: { lr: "small" } }, "bad_payload"],
    [{ type: "update_params" }, "bad_payload"],
    [{ type: "custom", payload: { text: "x".repeat(70_000) } }, "too_large"],
  ])("is turned away when it makes no sense: %j", async (more, refused) => {
    const { control, journal } = createRoom();
    control.ready();
    expect(await control.post(order(more))).toMatchObject({ refused });
    expect(journal.length).toBe(0);
  });
});

describe("a command for all workers", () => {
  it("reaches every one, waits for those that reconnect, and is confirmed when all have", async () => {
    const { control } = createRoom();
    control.ready();
    const first = createWorker(control, "w0");
    const second = createWorker(control, "w1");
    second.detach();
    expect(control.accepting(workspace, runId)).toEqual(["w0"]);
    await control.post(order());
    await settle();
    control.observe(news({ kind: "status", worker: "w0", status: "paused" }));
    await settle();
    expect([first.got.length, second.got.length, stateOf(control)]).toEqual([1, 0, "delivered"]);
    const again = createWorker(control, "w1");
    await settle();
    control.observe(news({ kind: "status", worker: "w1", status: "paused" }));
    await settle();
    expect([again.got.length, stateOf(control)]).toEqual([1, "confirmed"]);
    const late = createWorker(control, "w2");
    await settle();
    expect(late.got).toEqual([]);
  });

  it("waits for the first worker when none is known", async () => {
    const { control } = createRoom();
    control.ready();
    await control.post(order());
    const { got } = createWorker(control, "");
    await settle();
    expect([got.length, stateOf(control)]).toEqual([1, "delivered"]);
  });

  it("is confirmed by an answer that comes before the journal has told of the delivery", async () => {
    const { control } = createRoom();
    control.ready();
    await control.post(order());
    control.attach(workspace, runId, "w0", {
      async send({ cmdId }) {
        control.observe(news({ kind: "ack", worker: "w0", cmdId, isOk: true, error: "" }));
        return true;
      },
    });
    await settle();
    const command = control.list(workspace, runId)[0] as never;
    expect(summarize(command)).toMatchObject({ state: "confirmed" });
    expect(summarize(command).deliveredNs).not.toBeNull();
  });
});

describe("delivery", () => {
  it("uses a worker's newest connection, and its next one when the bytes could not leave", async () => {
    const { control } = createRoom();
    control.ready();
    const dead = createWorker(control, "w0", false);
    await control.post(order({ worker: "w0" }));
    await settle();
    expect(stateOf(control)).toBe("queued");
    const alive = createWorker(control, "w0");
    await settle();
    expect([dead.got.length, alive.got.length, stateOf(control)]).toEqual([0, 1, "delivered"]);
  });

  it("does not send again what was delivered, so that a job that was stopped can be started again", async () => {
    const { control } = createRoom();
    control.ready();
    const before = createWorker(control, "w0");
    await control.post(order({ type: "stop" }));
    await settle();
    before.detach();
    const after = createWorker(control, "w0");
    await settle();
    expect([before.got.length, after.got.length]).toEqual([1, 0]);
  });

  it("goes on when a step cannot be recorded", async () => {
    const { control, setFull, troubles } = createRoom();
    control.ready();
    setFull(true);
    await expect(control.post(order())).rejects.toThrow("full");
    setFull(false);
    createWorker(control, "w0");
    await control.post(order());
    await settle();
    setFull(true);
    control.observe(news({ kind: "status", worker: "w0", status: "paused" }));
    await settle();
    expect(troubles.length).toBe(1);
    setFull(false);
    control.observe(news({ kind: "status", worker: "w0", status: "paused" }));
    await settle();
    expect(stateOf(control)).toBe("confirmed");
  });
});

describe("after a restart", () => {
  it("knows every command again and delivers what waited", async () => {
    const before = createRoom();
    before.control.ready();
    createWorker(before.control, "w0");
    await before.control.post(order({ worker: "w0" }));
    await before.control.post(order({ worker: "w1", type: "stop" }));
    await settle();
    before.control.close();
    const { control } = createRoom(before.journal);
    const { got } = createWorker(control, "w1");
    await settle();
    expect(got).toEqual([]);
    control.ready();
    await settle();
    expect(got.map(({ type }) => type)).toEqual(["stop"]);
    expect([stateOf(control, 0), stateOf(control, 1)]).toEqual(["delivered", "delivered"]);
  });

  it("settles what a worker said before the crash, once, unless the journal already had it", async () => {
    const before = createRoom();
    before.control.ready();
    createWorker(before.control, "w0");
    await before.control.post(order());
    await before.control.post(order({ type: "custom" }));
    await settle();
    before.control.observe(news({ kind: "ack", worker: "w0", cmdId: "c2", isOk: true, error: "" }));
    await settle();
    const records = before.journal.length;
    const { control, journal } = createRoom(before.journal);
    control.observe(news({ kind: "status", worker: "w0", status: "paused" }));
    control.observe(news({ kind: "ack", worker: "w0", cmdId: "c2", isOk: true, error: "" }));
    control.ready();
    await settle();
    expect([stateOf(control, 0), stateOf(control, 1)]).toEqual(["confirmed", "confirmed"]);
    expect(journal.length).toBe(records + 1);
  });

  it("folds the same book from steps in any order", async () => {
    const before = createRoom();
    before.control.ready();
    createWorker(before.control, "w0");
    await before.control.post(order());
    await settle();
    before.control.observe(news({ kind: "status", worker: "w0", status: "paused" }));
    await settle();
    const steps = before.journal.flatMap(fromRecord);
    const expected = summarize(before.control.list(workspace, runId)[0] as never);
    for (let turn = 0; turn < steps.length; turn++) {
      const { control } = createRoom();
      const turned: CommandStep[] = [...steps.slice(turn), ...steps.slice(0, turn)];
      for (const step of turned) control.fold([step]);
      expect(summarize(control.list(workspace, runId)[0] as never)).toEqual(expected);
    }
  });

  it("writes each step as a row of the commands table", async () => {
    const { control, journal } = createRoom();
    control.ready();
    await control.post(order({ worker: "w0" }));
    const [step] = journal.flatMap(fromRecord) as [CommandStep];
    expect(fromCommandRow({ ...(toStateChange(step, 7n).row as StateRow<"commands">), type: "explode" })).toBeNull();
    expect(toStateChange(step, 7n)).toMatchObject({
      table: "commands",
      row: { run_id: runId, cmd_id: "c1", worker: "w0", state: "queued", author: "ada", version: 7n },
    });
  });
});
