import { expect, test } from "vitest";
import type { AgentApi } from "#agent/agent-api.ts";
import { compareRuns } from "./compare.ts";

test("a run that goes on has no duration, rather than none at all", async () => {
  const runs = [null, "2500000000"].map((duration_ns, at) => ({ id: `r${at}`, name: "", status: "", duration_ns }));
  const empty = { missing: [], params: [], env: [], source: [], metrics: [], divergence: [], spans: [] };
  const api = { call: async () => ({ runs, ...empty }) } as unknown as AgentApi;
  const { data } = await compareRuns.answer(api, { runs: ["r0", "r1"] }, new AbortController().signal);
  expect(data["runs"]).toMatchObject([{ duration_s: null }, { duration_s: 2.5 }]);
});
