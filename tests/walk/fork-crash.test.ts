// A process that forked, and a server that ends before all of it is stored.

import { expect, test, vi } from "vitest";
import { StoreOutage } from "#store/outage.ts";
import { suiteApp } from "../support/app.ts";
import { hex, toBatchText } from "../support/cirron-batch.ts";

const walk = suiteApp();

const span = (id: string, parent: string | null, name: string, at: number) => ({ id, parent, name, at });
const send = async (text: string) => expect((await walk.post("/v1/traces", text)).status).toBe(202);

interface Told {
  readonly id: string;
  readonly status: string;
  readonly remarks: readonly string[];
}

test("what only the journal has of a forked run counts after a crash, and the fork is still told", async () => {
  await send(toBatchText("b1", [span("epoch", "root", "epoch", 1), span("step", "epoch", "step", 2)]));
  // A child of a fork sends again what its parent had not sent.
  await send(toBatchText("b2", [span("step", "epoch", "step", 2), span("next", "epoch", "step", 3)]));
  await walk.app.collector.drained();
  vi.spyOn(walk.app.collector.store, "insert").mockRejectedValue(new StoreOutage("engine_down", "it is gone"));
  const session = toBatchText("b3", [span("root", null, "cirron.session", 0)]);
  await send(session.replace('"attrs":{}', '"attrs":{"cirron.run_id":"run-77"}'));
  await walk.reopen();
  await walk.app.collector.drained();
  const { status, body } = await walk.get("/api/v1/runs/run-77");
  expect(status).toBe(200);
  const told = body as Told;
  expect([told.id, told.status]).toEqual(["run-77", "completed"]);
  expect(JSON.stringify(told)).toContain("the process forked");
  expect((await walk.get(`/api/v1/runs/${hex("root")}`)).body).toMatchObject({ id: "run-77" });
  await walk.reopen();
  expect(JSON.stringify((await walk.get("/api/v1/runs/run-77")).body)).toContain("the process forked");
});

test("a run that is deleted right after a file was stored for it does not come back", async () => {
  for (let round = 0; round < 4; round++) {
    const run = `gone-${round}`;
    await walk.post(`/v1/runs/${run}/traces?wait=1`, toBatchText(run, [span(run, null, "cirron.session", 1)]));
    const file = { method: "PUT", body: "bytes" };
    expect((await fetch(`${walk.app.url}/v1/runs/${run}/artifacts/a.bin`, file)).status).toBe(201);
    expect((await fetch(`${walk.app.url}/api/v1/runs/${run}`, { method: "DELETE" })).status).toBe(200);
  }
  const ids = async () => {
    await walk.app.collector.drained();
    const { runs } = (await walk.get("/api/v1/runs")).body as { runs: { id: string }[] };
    return runs.map(({ id }) => id).filter((id) => id.startsWith("gone-"));
  };
  expect(await ids()).toEqual([]);
  await walk.reopen();
  expect(await ids()).toEqual([]);
});
