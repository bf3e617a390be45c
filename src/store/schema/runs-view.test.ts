import { describe, expect, it } from "vitest";
import { askStore } from "../../../tests/support/ask-store.ts";
import { blockOf } from "../../../tests/support/fact-rows.ts";
import { storesUnderTest, suiteStore } from "../../../tests/support/store-under-test.ts";
import { guestDatabaseOf } from "./views.ts";

describe.each(storesUnderTest)("the view of runs on $name", ({ openMigrated }) => {
  const store = suiteStore(openMigrated);

  it("tells how each run stands, by the evidence there is", async () => {
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    const cases: Record<string, { said: readonly Record<string, unknown>[]; receivedNs?: bigint; imported?: number }> =
      {
        completed: {
          said: [
            { type: "run_start", ts_ns: 1n },
            { type: "run_end", ts_ns: 2n, payload: '{"status":"completed"}' },
          ],
        },
        failed: {
          said: [
            { type: "run_start", ts_ns: 1n, worker: "a" },
            { type: "run_start", ts_ns: 1n, worker: "b" },
            { type: "run_end", ts_ns: 2n, worker: "a", payload: '{"status":"completed"}' },
            { type: "run_end", ts_ns: 3n, worker: "b", payload: '{"status":"failed"}' },
          ],
        },
        // One of two workers still runs, and was heard of just now.
        running: {
          said: [
            { type: "run_start", ts_ns: 1n, worker: "a" },
            { type: "run_start", ts_ns: 1n, worker: "b" },
            { type: "run_end", ts_ns: 2n, worker: "a", payload: '{"status":"completed"}' },
          ],
          receivedNs: nowNs,
        },
        // A run that started over after its end, long ago.
        lost: {
          said: [
            { type: "run_end", ts_ns: 2n, payload: '{"status":"completed"}' },
            { type: "run_start", ts_ns: 5n },
          ],
        },
        killed: {
          said: [
            { type: "run_start", ts_ns: 1n },
            { type: "wrapper_start", protocol: "run", ts_ns: 1n },
            { type: "wrapper_exit", protocol: "run", ts_ns: 9n, payload: '{"code":null,"signal":"SIGKILL"}' },
          ],
        },
        unknown: {
          said: [
            { type: "run_start", ts_ns: 1n },
            { type: "run_end", ts_ns: 2n, payload: '{"status":"weird"}' },
          ],
        },
      };
    for (const [status, { said, receivedNs = 5n }] of Object.entries(cases)) {
      const key = `lab/x/is-${status}`;
      const group = { group_key: key, workspace: "lab", protocol: "xtrack", run_id: `is-${status}`, version: 1n };
      await store.insert("groups", blockOf("groups", [group]), { token: `g-${status}` });
      const rows = said.map((event) => ({ group_key: key, protocol: "xtrack", received_ns: receivedNs, ...event }));
      await store.insert("events", blockOf("events", rows as never), { token: `e-${status}` });
    }
    const pipe = { group_key: "lab/s/pipe", workspace: "lab", protocol: "semantiva", run_id: "is-pipe", version: 1n };
    await store.insert("groups", blockOf("groups", [pipe]), { token: "g-pipe" });
    const line = { group_key: "lab/s/pipe", run_id: "is-pipe", received_ns: 5n };
    const lines = [
      { ...line, type: "pipeline_start", ts_ns: 1n },
      { ...line, type: "pipeline_end", ts_ns: 2n, outcome: "error" },
    ];
    await store.insert("lifecycle", blockOf("lifecycle", lines), { token: "l-pipe" });
    await store.insert(
      "events",
      blockOf("events", [{ group_key: "lab/s/pipe", protocol: "semantiva", received_ns: 5n, ts_ns: 1n }]),
      { token: "e-pipe" },
    );
    const rows = await askStore(store, {
      sql: `SELECT run_id, status FROM ${guestDatabaseOf(store.database)}.runs WHERE startsWith(run_id, 'is-') ORDER BY run_id`,
    });
    const expected = [
      ...Object.keys(cases).map((status) => ({ run_id: `is-${status}`, status })),
      { run_id: "is-pipe", status: "failed" },
    ];
    expect(rows).toEqual(expected.toSorted((a, b) => (a.run_id < b.run_id ? -1 : 1)));
  });

  it("has the name and the experiment that some group of a run sent, the earliest of several", async () => {
    const start = (name: string, exp_id: string) => JSON.stringify({ run_id: { id: "mixed", exp_id }, name });
    const said: readonly (readonly [key: string, protocol: string, tsNs: bigint, payload: string])[] = [
      ["lab/c/mixed", "cirron", 1n, ""],
      ["lab/x/mixed", "xtrack", 9n, start("later", "other")],
      ["lab/x/mixed-too", "xtrack", 5n, start("first", "exp")],
    ];
    for (const [group_key, protocol, ts_ns, payload] of said) {
      const group = { group_key, workspace: "lab", protocol, run_id: "mixed", version: 1n };
      await store.insert("groups", blockOf("groups", [group]), { token: `g-${group_key}` });
      const event = { group_key, protocol, type: "run_start", ts_ns, payload, received_ns: 5n };
      await store.insert("events", blockOf("events", [event]), { token: `e-${group_key}` });
    }
    const sql = `SELECT name, experiment FROM ${guestDatabaseOf(store.database)}.runs WHERE run_id = 'mixed'`;
    expect(await askStore(store, { sql })).toEqual([{ name: "first", experiment: "exp" }]);
  });
});
