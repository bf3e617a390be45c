import perfHooks from "node:perf_hooks";
import { expect, test, vi } from "vitest";
import { createMetrics } from "./metrics.ts";

test("servers of one process tell of the process alike, and it is measured once for all of them", async () => {
  const first = createMetrics();
  const measuring = vi.spyOn(perfHooks, "monitorEventLoopDelay");
  const second = createMetrics();
  second.busConnected.set(1);
  const [one, other] = await Promise.all([first.all().metrics(), second.all().metrics()]);
  expect(measuring).not.toHaveBeenCalled();
  measuring.mockRestore();
  for (const text of [one, other]) expect(text.match(/^# TYPE nodejs_eventloop_lag_seconds /gm)).toHaveLength(1);
  expect(one).toContain("tributary_bus_connected 0");
  expect(other).toContain("tributary_bus_connected 1");
});
