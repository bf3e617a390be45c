import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StateEvent } from "#store/reader/xtrack-state.ts";
import { toRunState } from "./run-state.ts";

const event = (type: string, seq: bigint, tsNs: bigint, payload: object = {}, worker = ""): StateEvent => ({
  groupKey: "default/x/r",
  worker,
  type,
  seq,
  tsNs,
  receivedNs: tsNs + 5n,
  payload: JSON.stringify({ run_id: "r", ...payload }),
});

describe("toRunState", () => {
  it("takes the end of a worker's latest incarnation, and of no earlier one", () => {
    const starts = [event("run_start", 1n, 10n, {}, "a"), event("run_start", 1n, 11n, {}, "b")];
    const ends = [event("run_end", 9n, 90n, {}, "a"), event("run_end", 9n, 95n, {}, "b")];
    const endsOf = (events: StateEvent[]) => toRunState(events).workers.map(({ worker, endNs }) => [worker, endNs]);
    expect(endsOf([...starts, ends[0] as StateEvent])).toEqual([
      ["a", 90n],
      ["b", null],
    ]);
    expect(endsOf([...starts, ...ends, event("run_start", 1n, 200n, {}, "a")])).toEqual([
      ["a", null],
      ["b", 95n],
    ]);
  });

  it("gives the checkpoint that was last called best [XT-15]", () => {
    const state = toRunState([
      event("checkpoint", 5n, 50n, { step: 30, path: "/c", metrics: { val_loss: 0.3 } }),
      event("checkpoint", 4n, 40n, {
        step: 20,
        path: "/b",
        is_best: true,
        best_key: "val_loss",
        metrics: { val_loss: 0.2 },
      }),
      event("checkpoint", 3n, 30n, { step: 10, path: "/a", is_best: true }),
    ]);
    expect(state.best).toMatchObject({ step: 20, path: "/b", bestKey: "val_loss", metrics: { val_loss: 0.2 } });
    expect(toRunState([event("checkpoint", 5n, 50n, { step: 30, path: "/c" })]).best).toBeNull();
  });

  it("gives final metrics per worker and three durations, none of which is the others' [XT-10]", () => {
    const state = toRunState([
      event("run_start", 1n, 1_000n, {}, "a"),
      {
        ...event("run_end", 3n, 9_000n, { status: "completed", final_metrics: { val: 0.1 }, duration_ms: 2040 }, "a"),
        receivedNs: 9_500n,
      },
      event("run_start", 1n, 1_000n, {}, "b"),
      event("run_end", 3n, 9_000n, { status: "completed", final_metrics: { val: 0.2 } }, "b"),
    ]);
    expect(state.workers.map((worker) => worker.durations)).toEqual([
      { clockNs: 8_000n, arrivalNs: 8_495n, saidMs: 2040 },
      { clockNs: 8_000n, arrivalNs: 8_000n, saidMs: null },
    ]);
    expect([...(state.finalMetrics.get("val") ?? [])]).toEqual([
      ["a", 0.1],
      ["b", 0.2],
    ]);
  });

  it("says the same for any order in which the events came", () => {
    const events = [
      event("run_start", 1n, 10n, {}, "a"),
      event("run_end", 3n, 30n, { status: "killed" }, "a"),
      event("run_start", 1n, 40n, {}, "a"),
      event("checkpoint", 2n, 50n, { step: 1, path: "/x", is_best: true }, "a"),
      event("run_end", 3n, 60n, { status: "completed" }, "a"),
      event("run_start", 1n, 12n, {}, "b"),
    ];
    const expected = toRunState(events);
    fc.assert(
      fc.property(fc.shuffledSubarray(events, { minLength: events.length }), (order) => {
        expect(toRunState(order)).toEqual(expected);
      }),
    );
  });
});
