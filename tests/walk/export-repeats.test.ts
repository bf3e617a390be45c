// Batches that are sent again, in another order, after others have tied them together: an export still tells what each held.

import { expect, test } from "vitest";
import { suiteApp } from "../support/app.ts";
import { hex, toBatchText } from "../support/cirron-batch.ts";

const app = suiteApp();

const span = (id: string, parent: string | null, at: number) => ({ id, parent, name: "step", at });
const batches = [
  ["late", [span("c", "b", 5)]],
  ["mid", [span("d", "e", 6), span("f", "e", 7)]],
  ["tie", [span("b", "a", 3), span("e", "a", 4)]],
  ["root", [span("a", null, 1)]],
] as const;
const texts = batches.map(([id, spans]) =>
  toBatchText(id, spans).replace('"schema_version":1,', `"schema_version":1,"note":"${id}",`),
);

async function exported(): Promise<unknown[]> {
  await app.app.collector.drained();
  const { runs } = (await app.get("/api/v1/runs")).body as { runs: { id: string }[] };
  expect(runs).toHaveLength(1);
  const response = await fetch(`${app.app.url}/api/v1/runs/${runs[0]?.id}/export?format=jsonl`);
  const lines = (await response.text()).trim().split("\n");
  return lines
    .map(
      (line) =>
        JSON.parse(line) as { kind: string; record: { batch_id: string; note: string; spans: { id: string }[] } },
    )
    .filter(({ kind }) => kind === "cirron")
    .map(({ record }) => [record.batch_id, record.note, record.spans.map(({ id }) => id)])
    .sort();
}

test("each batch is exported as it was sent, though it came again", async () => {
  const expected = batches.map(([id, spans]) => [hex(id), id, spans.map((one) => hex(one.id))]).sort();
  for (const text of texts) expect((await app.post("/v1/traces", text)).status).toBe(202);
  expect(await exported()).toEqual(expected);
  for (const text of texts.toReversed()) expect((await app.post("/v1/traces", text)).status).toBe(202);
  expect(await exported()).toEqual(expected);
  await app.reopen();
  for (const text of texts) expect((await app.post("/v1/traces", text)).status).toBe(202);
  expect(await exported()).toEqual(expected);
});

test("batches that come at once are told apart", async () => {
  const many = Array.from({ length: 40 }, (_, at) => [`at once ${at}`, [span(`o${at}`, "a", at)]] as const);
  const taken = await Promise.all(many.map(([id, spans]) => app.post("/v1/traces", toBatchText(id, spans))));
  expect(taken.map(({ status }) => status)).toEqual(many.map(() => 202));
  const expected = many.map(([id, spans]) => [hex(id), undefined, spans.map((one) => hex(one.id))]).sort();
  expect((await exported()).filter((batch) => (batch as unknown[])[1] === undefined)).toEqual(expected);
});
