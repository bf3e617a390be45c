// A timeline that is looked at while its run lives, beside the timeline of a server that sees the run for the first time.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { suiteApp } from "../support/app.ts";

const spool = join(import.meta.dirname, "../../examples/data/h200/cirron-stats/.cirron/spool");
const bodies = readdirSync(spool).map((name) => readFileSync(join(spool, name)));
const test = suiteApp();

interface Answer {
  readonly total: number;
  readonly spans: { readonly id: string[] };
  readonly marks: { readonly at: number[] };
  readonly names: string[];
}

async function look(width: number): Promise<Answer> {
  const { status, body } = await test.get(`/api/v1/runs/live/spans?width=${width}`);
  expect(status).toBe(200);
  const { as_of: _, ...answer } = body as Answer & { as_of: string };
  return answer;
}

/** Names are numbered in the order they came, which is another for a run that is read at once. */
function named(answer: Answer) {
  const { spans, marks, names, ...rest } = answer as Answer & { spans: { name: number[] }; marks: { name: number[] } };
  const text = (codes: readonly number[]) => codes.map((code) => names[code]);
  return { ...rest, spans: { ...spans, name: text(spans.name) }, marks: { ...marks, name: text(marks.name) } };
}

async function send(some: readonly Buffer[]): Promise<void> {
  for (const body of some) expect((await test.post("/v1/runs/live/traces", body)).status).toBe(202);
  expect((await test.get("/readyz?drained=1")).status).toBe(200);
}

it("grows with its run, and is at every moment what a new server shows", async () => {
  // The last batch first: it has the spans that all others lie in.
  const parts = [bodies.at(-1), ...bodies.slice(0, -1)] as Buffer[];
  let total = 0;
  for (const [at, part] of parts.entries()) {
    await send([part]);
    const grown = await look(10_000);
    expect(grown.total).toBeGreaterThan(total);
    total = grown.total;
    const coarse = await look(20);
    expect(coarse.total).toBe(total);
    if (at % 3 !== 0) continue;
    await test.reopen();
    expect(named(await look(10_000))).toEqual(named(grown));
    expect(named(await look(20))).toEqual(named(coarse));
  }
});

it("forgets a run that was deleted, and shows it again when it is sent again", async () => {
  const before = await look(1000);
  expect((await fetch(`${test.app.url}/api/v1/runs/live`, { method: "DELETE" })).status).toBeLessThan(300);
  await expect.poll(async () => (await test.get("/api/v1/runs/live/spans")).status).toBe(404);
  await expect
    .poll(async () => {
      await send(bodies.slice(0, 1));
      return (await test.get("/api/v1/runs/live/spans")).status;
    })
    .toBe(200);
  const after = await look(1000);
  expect(after.total).toBeLessThan(before.total);
  expect(after.total).toBeGreaterThan(0);
});
