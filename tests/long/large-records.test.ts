// Records that together are more than the engine may hold for one question: all of them are listed and taken away.

import { beforeAll, expect, test } from "vitest";
import type { EventsAnswer } from "#api/contract/record.ts";
import { suiteApp } from "../support/app.ts";

const size = 60 << 20;
const letters = Buffer.from("ABCDEFGHI");
const walk = suiteApp();

beforeAll(async () => {
  for (const [at, letter] of letters.entries()) {
    const attrs = `{"~":"${String.fromCharCode(letter).repeat(size)}"}`;
    const span = `{"id":"s${at}","name":"step","parent_id":null,"start_ns":${at},"end_ns":99,"pid":1,"attrs":${attrs}}`;
    const batch = `{"schema_version":1,"batch_id":"b${at}","spans":[${span}],"marks":[],"snapshots":[]}`;
    expect(await walk.post("/v1/runs/large/traces?wait=1", batch)).toMatchObject({ status: 202 });
  }
}, 300_000);

test("a list shows the beginning of each", async () => {
  const { status, body } = await walk.get("/api/v1/runs/large/events");
  expect(status).toBe(200);
  const { events } = body as EventsAnswer;
  expect(events.map(({ cut_from = 0 }) => cut_from > size)).toEqual(Array(letters.length).fill(true));
}, 60_000);

test("an export has all of each", async () => {
  const { body } = await fetch(`${walk.app.url}/api/v1/runs/large/export`);
  const counts = new Uint32Array(256);
  if (body !== null)
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>)
      for (const byte of chunk) counts[byte] = (counts[byte] as number) + 1;
  for (const letter of letters) expect(counts[letter]).toBeGreaterThanOrEqual(size);
}, 300_000);
