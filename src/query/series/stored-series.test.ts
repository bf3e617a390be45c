// The two ways to a series, from points that are held and from points that go by in blocks, over the same stored rows.

import { beforeAll, expect, test } from "vitest";
import { encodeSeries } from "#api/encode-series.ts";
import { Kept } from "#query/kept.ts";
import { expectEqual } from "../../../tests/support/expect-equal.ts";
import { openMigrated, suiteStore } from "../../../tests/support/store-under-test.ts";
import { KeptPoints, pointReads } from "./kept-points.ts";
import { wholeSeries } from "./request.ts";
import { type RunSeriesRequest, readSeries } from "./series.ts";

const store = suiteStore(openMigrated);
const arrival = "toInt64(1) AS received_ns, toInt64(intDiv(number, 100)) AS jpos, toUInt32(number % 100) AS jrow";

beforeAll(async () => {
  // Several points share a step, some a time too; some have no step, some are no number or not finite.
  await store.ddl(`INSERT INTO ${store.database}.metrics
      (group_key, key, worker, phase, step, epoch, ts_ns, value, source, seq, entry, received_ns, jpos, jrow)
    SELECT concat('w/x/', toString(number % 3)), if(number % 7 = 0, 'lr', 'loss'), concat('w', toString(number % 2)),
      if(number % 5 = 0, 'val', 'train'), if(number % 31 = 0, NULL, toInt64(intDiv(number, 6))),
      if(number % 4 = 0, NULL, toInt64(intDiv(number, 300))), toInt64(1794710396000000000) + intDiv(number, 4) * 1000,
      multiIf(number % 101 = 0, nan, number % 103 = 0, inf, number % 107 = 0, -inf, number % 109 = 0, NULL, sin(number) * 10),
      'xtrack', toInt64(number * 37 % 3001), toInt32(-1), ${arrival} FROM numbers(3000)`);
  // Marks take their step and epoch from the spans they lie in.
  await store.ddl(`INSERT INTO ${store.database}.spans
      (group_key, span_id, parent_id, name, index, start_ns, end_ns, rank, received_ns, jpos, jrow)
    SELECT 'w/c/1', concat('s', toString(number)), if(number < 10, NULL, concat('s', toString(number % 10))),
      if(number < 10, 'epoch', 'step'), toInt64(number), toInt64(number), toInt64(number + 1), toInt32(2), ${arrival} FROM numbers(200)`);
  await store.ddl(`INSERT INTO ${store.database}.metrics
      (group_key, key, step, ts_ns, value, source, entry, mark_id, span_id, received_ns, jpos, jrow)
    SELECT 'w/c/1', 'loss', if(number % 3 = 0, toInt64(number), NULL), toInt64(1794710396000000000) + number * 1000, toFloat64(number),
      'cirron', toInt32(-1), concat('m', toString(number)), concat('s', toString(number % 230)), ${arrival} FROM numbers(600)`);
});

const xtrack = ["a", "a", "b"].map((run, at) => ({ groupKey: `w/x/${at}`, run, protocol: "xtrack", rank: 0 }));
const cirron = { groupKey: "w/c/1", run: "a", protocol: "cirron", rank: 2 };
const plain: RunSeriesRequest = {
  ...wholeSeries,
  groups: xtrack,
  keys: ["loss", "lr", "nothing"],
  axis: "step",
  buckets: 40,
};

async function readAll(points: KeptPoints, request: RunSeriesRequest) {
  const texts: string[] = [];
  for await (const series of readSeries({ points }, request))
    texts.push(Buffer.concat(encodeSeries(series, request.byWorker)).toString());
  return texts.map((text) => {
    const series = JSON.parse(text) as { mean: (number | null)[] };
    // A sum depends on the order of its parts.
    return { ...series, mean: series.mean.map((mean) => mean?.toPrecision(9)) };
  });
}

test("a series is the same from held points and from passing ones, on every axis and however it is taken together", async () => {
  const held = new KeptPoints(pointReads(store), new Kept());
  const passing = new KeptPoints(pointReads(store), new Kept(), 0);
  const time = 1_794_710_396_000_000_000n;
  const questions: Partial<RunSeriesRequest>[] = [
    {},
    { byWorker: true },
    { byPosition: true },
    { byPosition: true, buckets: 1000 },
    { buckets: 5000 },
    { phase: "val", worker: "w1" },
    { groups: [...xtrack, cirron] },
    { groups: [...xtrack, cirron], byWorker: true, buckets: 7 },
    { fromNs: time + 100_000n, toNs: time + 400_000n },
  ];
  for (const axis of ["step", "epoch", "time", "relative"] as const) {
    const from = axis === "time" ? time + 99_000n : axis === "relative" ? 99_000n : 3n;
    for (const question of [...questions, { from, to: from + 200n }]) {
      const request = { ...plain, axis, ...question };
      const found = await readAll(held, request);
      const expected = await readAll(passing, request);
      expect(expected.length).toBeGreaterThan(0);
      if (request.groups.includes(cirron)) expectEqual(withoutTies(found), withoutTies(expected));
      else expectEqual(found, expected);
    }
  }
});

/** Marks have no sequence number: which of those at one place and time is first is not said. */
function withoutTies(series: readonly object[]) {
  return series.map((one) => ({ ...one, first: null, last: null, t: null, t_last: null }));
}
