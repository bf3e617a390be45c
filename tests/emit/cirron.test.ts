// The Cirron side of the SDK, read back from the spool by a reader written from the document.

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import {
  batches,
  epochs,
  flush,
  health,
  mark,
  markInt,
  profile,
  scope,
  shutdown,
  span,
  steps,
} from "../../src/emit/cirron.ts";
import { makeFolder } from "../support/folder.ts";
import { readSpool } from "./read-spool.ts";

afterEach(() => shutdown());

const ofName = <T extends { name: string }>(rows: T[], name: string) => rows.filter((row) => row.name === name);
const one = <T extends { name: string }>(rows: T[], name: string): T => {
  const found = ofName(rows, name);
  expect(found, name).toHaveLength(1);
  return found[0] as T;
};

describe("records", () => {
  it("writes every field of batch and span with its documented type [CT-05] [CT-06]", async () => {
    const path = makeFolder();
    profile({ path });
    scope(
      "forward",
      (inner) => {
        inner.setGpuNs(1234.4);
        inner.set({ device: "gpu:0" });
      },
      { index: 3, attrs: { mode: "train" } },
    );
    await shutdown();
    const { spans } = readSpool(path);
    const forward = one(spans, "forward");
    const session = one(spans, "cirron.session");
    expect(forward).toMatchObject({
      parent_id: session.id,
      index: 3,
      cpu_ns: null,
      gpu_ns: 1234,
      memory_peak_bytes: null,
      pid: process.pid,
      attrs: { mode: "train", device: "gpu:0" },
      mark_ids: [],
    });
    expect(session).toMatchObject({ parent_id: null, index: null, gpu_ns: null });
    expect(forward.thread_id).toBe(session.thread_id);
    expect(session.start_ns <= forward.start_ns && forward.end_ns <= session.end_ns).toBe(true);
    const wallNs = BigInt(Date.now()) * 1_000_000n;
    expect(Number(wallNs - session.end_ns) / 1e9).toBeLessThan(5);
  });

  it("writes marks of all four types, and a span names its marks [CT-07] [CT-08]", async () => {
    const path = makeFolder();
    profile({ path });
    scope("step", () => {
      mark("loss", 0.5, { step: 10 });
      mark("whole", 1);
      mark("minus zero", -0);
      mark("huge", 1e300);
      markInt("correct", 11);
      mark("tokens", 2n ** 70n);
      mark("note", "x");
      mark("done", true);
    });
    await shutdown();
    const { spans, marks } = readSpool(path);
    const step = one(spans, "step");
    const inStep = marks.filter((row) => row.span_id === step.id);
    expect(step.mark_ids).toEqual(inStep.map((row) => row.id));
    expect(inStep.map((row) => [row.name, row.value_type, row.valueText])).toEqual([
      ["loss", "float", "0.5"],
      ["whole", "float", "1.0"],
      ["minus zero", "float", "-0.0"],
      ["huge", "float", "1e+300"],
      ["correct", "int", "11"],
      ["tokens", "int", "1180591620717411303424"],
      ["note", "string", '"x"'],
      ["done", "bool", "true"],
    ]);
    expect(one(marks, "loss").attrs).toEqual({ step: 10 });
  });

  it("marks a point unless told it is a summary [CT-12]", async () => {
    const path = makeFolder();
    profile({ path });
    mark("a", 1);
    mark("b", 2, undefined, "summary");
    mark("c", 3, { epoch: 0 }, "point");
    await shutdown();
    const { marks } = readSpool(path);
    expect(["a", "b", "c"].map((name) => one(marks, name).kind)).toEqual(["point", "summary", "point"]);
  });

  it("cuts a string value at 256 bytes without splitting a character", async () => {
    const path = makeFolder();
    profile({ path });
    mark("ascii", "x".repeat(300));
    mark("wide", "€".repeat(100));
    await shutdown();
    const { marks } = readSpool(path);
    expect(one(marks, "ascii").value).toBe("x".repeat(256));
    expect(one(marks, "wide").value).toBe("€".repeat(85));
  });

  it("writes non-finite floats as the words Python's json reads", async () => {
    const path = makeFolder();
    profile({ path });
    mark("nan", Number.NaN);
    mark("inf", Number.POSITIVE_INFINITY, { low: Number.NEGATIVE_INFINITY });
    flush();
    const { readdirSync, readFileSync } = await import("node:fs");
    const text = readdirSync(`${path}/spool`).map((name) => readFileSync(`${path}/spool/${name}`, "utf8"));
    expect(text.join()).toMatch(/"value":NaN.*"value":Infinity,"attrs":\{"low":-Infinity\}/s);
    await shutdown();
  });

  it("gives rank 0 unless RANK or an option says otherwise [CT-39]", async () => {
    const path = makeFolder();
    profile({ path });
    await shutdown();
    expect(one(readSpool(path).spans, "cirron.session").rank).toBe(0);
    const other = makeFolder();
    profile({ path: other, rank: 3 });
    await shutdown();
    expect(one(readSpool(other).spans, "cirron.session")).toMatchObject({ rank: 3, attrs: { rank: 3 } });
  });

  it("reports its own cost as a summary mark of the session", async () => {
    const path = makeFolder();
    profile({ path });
    for (let i = 0; i < 5000; i++) mark("x", i);
    await shutdown();
    const { marks, spans } = readSpool(path);
    const overhead = one(marks, "cirron.overhead_ms");
    expect(overhead).toMatchObject({ kind: "summary", span_id: one(spans, "cirron.session").id });
    expect(overhead.value as number).toBeGreaterThan(0);
    expect(overhead.attrs).toMatchObject({ dropped: 0 });
  });
});

describe("attachment", () => {
  it("attaches a mark to the innermost scope of its own async context [CT-09]", async () => {
    const path = makeFolder();
    profile({ path });
    const work = (name: string, waitMs: number) =>
      scope(name, async () => {
        mark(`${name} before`, 1);
        await sleep(waitMs);
        await scope(`${name} inner`, async () => {
          await sleep(waitMs);
          mark(`${name} in`, 2);
        });
        mark(`${name} after`, 3);
      });
    await Promise.all([work("a", 4), work("b", 2), work("c", 1)]);
    await shutdown();
    const { spans, marks } = readSpool(path);
    for (const name of ["a", "b", "c"]) {
      const outer = one(spans, name);
      const inner = one(spans, `${name} inner`);
      expect(inner.parent_id).toBe(outer.id);
      expect(one(marks, `${name} before`).span_id).toBe(outer.id);
      expect(one(marks, `${name} in`).span_id).toBe(inner.id);
      expect(one(marks, `${name} after`).span_id).toBe(outer.id);
    }
  });

  it("closes a `using` span at the end of its block and goes back to the outer one [CT-09]", async () => {
    const path = makeFolder();
    profile({ path });
    {
      using outer = span("outer");
      {
        using inner = span("inner");
        mark("m inner", 1);
        expect(inner.id).not.toBe(outer.id);
      }
      await sleep(1);
      mark("m outer", 1);
    }
    mark("m session", 1);
    await shutdown();
    const { spans, marks } = readSpool(path);
    expect(one(spans, "inner").parent_id).toBe(one(spans, "outer").id);
    expect(one(marks, "m inner").span_id).toBe(one(spans, "inner").id);
    expect(one(marks, "m outer").span_id).toBe(one(spans, "outer").id);
    expect(one(marks, "m session").span_id).toBe(one(spans, "cirron.session").id);
  });

  it("attaches to the session when no scope is open, and to root outside a session [CT-10] [CT-11]", async () => {
    const path = makeFolder();
    mark("before", 1);
    scope("early", () => mark("early mark", 1));
    profile({ path });
    mark("during", 1);
    await shutdown();
    mark("after", 1);
    flush();
    const { spans, marks } = readSpool(path);
    expect(one(marks, "before").span_id).toBe("root");
    expect(one(marks, "after").span_id).toBe("root");
    const session = one(spans, "cirron.session");
    expect(one(marks, "during").span_id).toBe(session.id);
    expect(session.mark_ids).toContain(one(marks, "during").id);
    expect(one(spans, "early").parent_id).toBeNull();
    expect(one(marks, "early mark").span_id).toBe(one(spans, "early").id);
  });

  it("notes why a scope ended early and lets the error through", async () => {
    const path = makeFolder();
    profile({ path });
    expect(() =>
      scope("sync", () => {
        throw new RangeError("no");
      }),
    ).toThrow("no");
    await expect(scope("async", () => Promise.reject(new TypeError("never")))).rejects.toThrow("never");
    await shutdown();
    const { spans } = readSpool(path);
    expect(one(spans, "sync").attrs).toEqual({ "error.type": "RangeError", "error.message": "no" });
    expect(one(spans, "async").attrs).toEqual({ "error.type": "TypeError", "error.message": "never" });
  });

  it("closes what is still open at the end and says so", async () => {
    const path = makeFolder();
    profile({ path });
    span("left open");
    await shutdown();
    expect(one(readSpool(path).spans, "left open").attrs).toEqual({ "cirron.unfinished": true });
  });
});

describe("loops", () => {
  const phases = ["data_load", "forward", "backward", "optimizer_step"];

  it("has the canonical shape: session › epoch › step › data_load, forward, backward, optimizer_step [CT-19] [CT-20]", async () => {
    const path = makeFolder();
    profile({ path });
    const seen: unknown[] = [];
    for (const epoch of epochs(2)) {
      for (const batch of batches(["x", "y", "z"])) {
        seen.push([epoch, batch]);
        scope("forward", () => mark("loss", 0.25));
        scope("backward", () => undefined);
        scope("optimizer_step", () => undefined);
      }
    }
    await shutdown();
    expect(seen).toEqual([0, 1].flatMap((epoch) => ["x", "y", "z"].map((batch) => [epoch, batch])));
    const { spans } = readSpool(path);
    const session = one(spans, "cirron.session");
    const epochSpans = ofName(spans, "epoch");
    expect(epochSpans.map((row) => [row.index, row.parent_id])).toEqual([
      [0, session.id],
      [1, session.id],
    ]);
    for (const epoch of epochSpans) {
      const stepSpans = spans.filter((row) => row.parent_id === epoch.id);
      expect(stepSpans.map((row) => [row.name, row.index])).toEqual([0, 1, 2].map((index) => ["step", index]));
      for (const step of stepSpans) {
        const children = spans.filter((row) => row.parent_id === step.id);
        expect(children.map((row) => row.name)).toEqual(phases);
        expect(step.attrs["data_load_ns"]).toBeGreaterThanOrEqual(0);
      }
    }
    expect(spans).toHaveLength(1 + 2 + 6 + 24);
  });

  it("keeps epochs siblings even when one loop runs inside another [CT-20]", async () => {
    const path = makeFolder();
    profile({ path });
    for (const _ of epochs(1)) for (const _step of steps(1)) for (const _validation of epochs(2)) mark("val", 1);
    await shutdown();
    const { spans } = readSpool(path);
    expect(new Set(ofName(spans, "epoch").map((row) => row.parent_id))).toEqual(
      new Set([one(spans, "cirron.session").id]),
    );
  });

  it("gives operations before the loop the session as parent [CT-21]", async () => {
    const path = makeFolder();
    profile({ path });
    scope("forward", () => undefined, { attrs: { warmup: true } });
    for (const _ of epochs(1)) scope("backward", () => undefined);
    await shutdown();
    const { spans } = readSpool(path);
    expect(one(spans, "forward").parent_id).toBe(one(spans, "cirron.session").id);
    expect(one(spans, "backward").parent_id).toBe(one(spans, "epoch").id);
  });

  it("follows an asynchronous source, break and throw included", async () => {
    const path = makeFolder();
    profile({ path });
    async function* load() {
      for (let i = 0; ; i++) {
        await sleep(5);
        yield i;
      }
    }
    for await (const batch of batches(load(), { from: 7 })) {
      mark("loss", batch);
      await sleep(1);
      mark("late", batch);
      if (batch === 2) break;
    }
    mark("outside", 1);
    await shutdown();
    const { spans, marks } = readSpool(path);
    expect(ofName(spans, "step").map((row) => row.index)).toEqual([7, 8, 9]);
    const stepIds = ofName(spans, "step").map((row) => row.id);
    expect(ofName(marks, "loss").map((row) => row.span_id)).toEqual(stepIds);
    expect(ofName(marks, "late").map((row) => row.span_id)).toEqual(stepIds);
    expect(one(marks, "outside").span_id).toBe(one(spans, "cirron.session").id);
    for (const load of ofName(spans, "data_load"))
      expect(Number(load.end_ns - load.start_ns)).toBeGreaterThan(2_000_000);
  });
});

describe("harmlessness", () => {
  it("survives attributes that cannot be read", async () => {
    const path = makeFolder();
    profile({ path });
    const circular: Record<string, unknown> = { name: "me" };
    circular["self"] = circular;
    const angry = {
      ok: 1,
      get boom(): never {
        throw new Error("no");
      },
      toJSON: undefined,
    };
    mark("odd", 1, { circular, angry, when: new Date(0), big: 2n ** 80n, fn: () => 1, list: new Float32Array([1, 2]) });
    mark("revoked", 1, {
      get x(): never {
        throw new Error("no");
      },
    });
    mark(undefined as unknown as string, { a: 1 } as unknown as string);
    scope(Symbol("s") as unknown as string, () => undefined);
    await shutdown();
    const { marks, spans } = readSpool(path);
    expect(one(marks, "odd").attrs).toMatchObject({
      circular: { name: "me", self: "[circular]" },
      angry: { ok: 1, boom: "[unreadable]" },
      when: "1970-01-01T00:00:00.000Z",
      fn: "[function fn]",
      list: [1, 2],
    });
    expect(marks).toHaveLength(4);
    expect(spans).toHaveLength(2);
  });

  it("does nothing at all when it is not enabled", async () => {
    const path = makeFolder();
    profile({ path, enabled: false });
    expect(scope("s", () => 42)).toBe(42);
    mark("x", 1);
    await shutdown();
    expect(() => readSpool(path)).toThrow(/ENOENT/);
  });

  it("loses nothing in a loop that never yields, whatever its length", async () => {
    const path = makeFolder();
    profile({ path, flushIntervalMs: 20 });
    for (let i = 0; i < 40_000; i++) mark("x", i);
    for (let i = 0; i < 20_000; i++) scope("s", () => undefined);
    const written = health().batches;
    expect(written).toBeGreaterThan(3);
    await shutdown();
    const { marks, spans } = readSpool(path);
    expect(ofName(marks, "x").map((row) => row.value)).toEqual(Array.from({ length: 40_000 }, (_, i) => i));
    expect(ofName(spans, "s")).toHaveLength(20_000);
    expect(new Set(spans.map((row) => row.id)).size).toBe(spans.length);
    expect(new Set(marks.map((row) => row.id)).size).toBe(marks.length);
  });
});
