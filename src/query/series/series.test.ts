// Series out of columns beside the same buckets worked out from plain objects, slowly and without any column.

import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeSeries } from "#api/encode-series.ts";
import { Kept } from "#query/kept.ts";
import { type PointBlock, type PointRequest, pointFlags, rankWorker, type StoredPoints } from "#store/reader/points.ts";
import type { TextCodes } from "#store/reader/timeline.ts";
import { KeptPoints, type PointReads } from "./kept-points.ts";
import type { SeriesRequest } from "./request.ts";
import { seriesOf } from "./series.ts";

interface Plain {
  readonly jpos: number;
  readonly group: string;
  readonly key: string;
  readonly worker: string;
  readonly phase: string;
  readonly step: bigint | null;
  readonly epoch: bigint | null;
  readonly ts: bigint;
  readonly value: number | null;
  readonly seq: bigint;
}

function toCodes(texts: readonly string[]): TextCodes {
  const keys = ["nobody", ...new Set(texts)];
  return { keys, codes: Uint32Array.from(texts, (text) => keys.indexOf(text)) };
}

function toBlock(rows: readonly Plain[], hasEpoch: boolean): PointBlock {
  const bits = (row: Plain) =>
    (row.step === null ? pointFlags.noStep : 0) |
    (row.epoch === null && hasEpoch ? pointFlags.noEpoch : 0) |
    (row.value === null ? pointFlags.noValue : 0);
  return {
    rows: rows.length,
    group: toCodes(rows.map(({ group }) => group)),
    key: toCodes(rows.map(({ key }) => key)),
    worker: toCodes(rows.map(({ worker }) => worker)),
    phase: toCodes(rows.map(({ phase }) => phase)),
    step: BigInt64Array.from(rows, ({ step }) => step ?? 0n),
    epoch: hasEpoch ? BigInt64Array.from(rows, ({ epoch }) => epoch ?? 0n) : null,
    tsNs: BigInt64Array.from(rows, ({ ts }) => ts),
    value: Float64Array.from(rows, ({ value }) => value ?? 0),
    tie: BigInt64Array.from(rows, ({ seq }) => seq),
    entry: new Int32Array(rows.length).fill(-1),
    flags: Uint8Array.from(rows, bits),
  };
}

/** Rows in a journal of their own. */
class Rows implements PointReads {
  rows: Plain[] = [];
  read = 0;
  merges = 0;
  whileReading: () => void = () => {};

  private of({ groups, keys }: PointRequest): Plain[] {
    return this.rows.filter(({ group, key }) => groups.includes(group) && keys.includes(key));
  }

  async firstTime(groups: readonly string[]) {
    return least(this.rows.filter(({ group }) => groups.includes(group)).map(({ ts }) => ts));
  }

  async parts(request: PointRequest) {
    const rows = this.of(request);
    return { points: rows.length, parts: `${this.merges} ${rows.map(toText).join()}` };
  }

  async state(request: PointRequest, before: readonly bigint[]): Promise<StoredPoints[]> {
    const { groups } = request;
    const fingerprint = (rows: readonly Plain[]) => ({ rows: rows.length, sum: rows.map(toText).join() || "0" });
    return [...Map.groupBy(this.of(request), ({ group, key }) => `${group}\n${key}`).values()].map((rows) => {
      const { group, key } = rows[0] as Plain;
      const upTo = before[groups.indexOf(group)] as bigint;
      const last = BigInt(Math.max(...rows.map(({ jpos }) => jpos)));
      return { group, key, last, all: fingerprint(rows), before: fingerprint(rows.filter(({ jpos }) => jpos <= upTo)) };
    });
  }

  async *blocks(request: PointRequest, { after, last }: { readonly after: readonly bigint[]; readonly last: bigint }) {
    this.whileReading();
    const { groups, kind } = request;
    const rows = this.of(request).filter(
      ({ group, jpos }) => jpos > (after[groups.indexOf(group)] as bigint) && jpos <= last,
    );
    this.read += rows.length;
    const middle = rows.length >> 1;
    for (const part of [rows.slice(middle), rows.slice(0, middle)])
      if (part.length > 0) yield toBlock(part, kind !== "steps");
  }
}

function toText(row: Plain): string {
  return Object.values(row).map(String).join(":");
}

const word = (value: number | null) => (value === null || Number.isFinite(value) ? value : String(value));
const least = (values: readonly bigint[]) => values.reduce((a, b) => (b < a ? b : a), values[0] ?? 0n);
const greatest = (values: readonly bigint[]) => values.reduce((a, b) => (b > a ? b : a));
const byPlace = (a: Placed, b: Placed) => Number(a.x - b.x || a.ts - b.ts || a.seq - b.seq);

interface Placed extends Plain {
  readonly run: string;
  readonly at: string;
  readonly x: bigint;
}

function slowSeries(rows: readonly Plain[], request: SeriesRequest) {
  const placed = request.groups.flatMap(({ groupKey, run, worker }) => {
    const ofRun = new Set(request.groups.filter((one) => one.run === run).map((one) => one.groupKey));
    const mine = rows.filter((row) => request.keys.includes(row.key));
    const times = rows.filter((row) => ofRun.has(row.group)).map(({ ts }) => ts);
    return mine
      .filter((row) => row.group === groupKey)
      .flatMap((row): Placed[] => {
        const x = { step: row.step, epoch: row.epoch, time: row.ts, relative: row.ts - least(times) }[request.axis];
        return x === null ? [] : [{ ...row, run, x, at: row.worker === rankWorker ? (worker ?? "") : row.worker }];
      });
  });
  const inside = placed.filter(
    (row) =>
      (request.from === null || row.x >= request.from) &&
      (request.to === null || row.x <= request.to) &&
      (request.fromNs === null || row.ts >= request.fromNs) &&
      (request.toNs === null || row.ts <= request.toNs) &&
      (request.worker === null || row.at === request.worker) &&
      (request.phase === null || row.phase === request.phase),
  );
  const series = Map.groupBy(inside, (row) =>
    JSON.stringify([row.run, row.key, row.phase, request.byWorker ? row.at : ""]),
  );
  return [...series].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, points]) => slowBuckets(points, request));
}

function slowBuckets(points: readonly Placed[], request: SeriesRequest) {
  const first = points[0] as Placed;
  const [low, high] = [least(points.map(({ x }) => x)), greatest(points.map(({ x }) => x))];
  const base = least(points.map(({ ts }) => ts));
  const size = request.byPosition ? new Set(points.map(({ x }) => x)).size : points.length;
  const isShort = size <= request.buckets;
  const bucketOf = (point: Placed, at: number) => {
    if (isShort) return request.byPosition ? String(point.x) : at;
    const share = (Number(point.x) - Number(low)) / Math.max(Number(high) - Number(low) + 1, 1);
    return Math.min(request.buckets - 1, Math.floor(share * request.buckets));
  };
  const buckets = [
    ...Map.groupBy(points.toSorted(byPlace), (point) => bucketOf(point, points.indexOf(point))).values(),
  ];
  const of = <T>(pick: (members: readonly Placed[]) => T): T[] => buckets.map(pick);
  const finite = (members: readonly Placed[]) =>
    members.flatMap(({ value }) => (Number.isFinite(value) ? [value as number] : []));
  const ends = (members: readonly Placed[]) => [members[0], members.at(-1)] as [Placed, Placed];
  return {
    run: first.run,
    key: first.key,
    phase: first.phase,
    worker: request.byWorker ? first.at : null,
    points: points.length,
    exact: isShort && !request.byPosition,
    x_base: String(low),
    x: of((members) => Number(ends(members)[0].x - low)),
    x_last: of((members) => Number(ends(members)[1].x - low)),
    t_base: String(base),
    t: of((members) => Number(ends(members)[0].ts - base)),
    t_last: of((members) => Number(ends(members)[1].ts - base)),
    count: of((members) => members.length),
    first: of((members) => word(ends(members)[0].value)),
    last: of((members) => word(ends(members)[1].value)),
    min: of((members) => (finite(members).length === 0 ? null : Math.min(...finite(members)))),
    max: of((members) => (finite(members).length === 0 ? null : Math.max(...finite(members)))),
    mean: of((members) => {
      const values = finite(members);
      return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
    }),
    nan: of((members) => members.filter(({ value }) => Number.isNaN(value)).length),
    pos_inf: of((members) => members.filter(({ value }) => value === Number.POSITIVE_INFINITY).length),
    neg_inf: of((members) => members.filter(({ value }) => value === Number.NEGATIVE_INFINITY).length),
  };
}

async function ask(cache: KeptPoints, request: SeriesRequest): Promise<ReturnType<typeof slowBuckets>[]> {
  return (await textsOf(cache, request)).map((text) => JSON.parse(text));
}

async function textsOf(cache: KeptPoints, request: SeriesRequest): Promise<string[]> {
  const texts: string[] = [];
  for await (const series of seriesOf(cache, request))
    texts.push(Buffer.concat(encodeSeries(series, request.byWorker)).toString());
  return texts;
}

const request: SeriesRequest = {
  groups: [{ groupKey: "g", run: "run", worker: null }],
  keys: ["loss"],
  axis: "step",
  buckets: 10,
  byWorker: false,
  byPosition: false,
  worker: null,
  phase: null,
  from: null,
  to: null,
  fromNs: null,
  toNs: null,
};
const pointAt = (jpos: number, more: Partial<Plain> = {}): Plain => ({
  jpos,
  group: "g",
  key: "loss",
  worker: "w0",
  phase: "train",
  step: BigInt(jpos),
  epoch: null,
  ts: BigInt(jpos) * 1000n,
  value: jpos / 7,
  seq: BigInt(jpos),
  ...more,
});

const small = fc.bigInt({ min: 0n, max: 40n });
/** Also steps and times that a number does not hold exactly. */
const huge = fc.bigInt({ min: 0n, max: 9n }).map((last) => 2n ** 60n + last * 100n);
const row = fc.record({
  group: fc.constantFrom("a", "b", "c"),
  key: fc.constantFrom("loss", "lr"),
  worker: fc.constantFrom("w0", "w1", rankWorker),
  phase: fc.constantFrom("train", "val"),
  step: fc.option(fc.oneof({ weight: 6, arbitrary: small }, { weight: 1, arbitrary: huge }), { nil: null }),
  epoch: fc.option(small, { nil: null }),
  ts: fc.oneof({ weight: 3, arbitrary: small }, { weight: 1, arbitrary: huge }),
  value: fc.oneof(
    fc.double({ min: -50, max: 50, noNaN: true }).map((value) => value + 0),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, null),
  ),
});
const rarely = <T>(some: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: some });
const edge = rarely(fc.oneof(small, huge));
const asked = fc.record({
  axis: fc.constantFrom("step", "epoch", "time", "relative"),
  buckets: fc.integer({ min: 1, max: 12 }),
  by: fc.constantFrom("run", "worker", "position"),
  worker: rarely(fc.constantFrom("w0", "3")),
  phase: rarely(fc.constant("train")),
  from: edge,
  to: edge,
  fromNs: edge,
  toNs: edge,
});

/** A sum depends on the order of its parts, and where they cancel out, what is left is noise. */
function roundMean(mean: number | null): string | null {
  if (mean === null) return null;
  return Math.abs(mean) < 1e-9 ? "0" : mean.toPrecision(9);
}

test("is the plain answer, whatever is asked and however the points came in", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 80, size: "max" }),
      fc.array(asked, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 15, max: 60 }),
      async (given, questions, some) => {
        const rows = new Rows();
        const cache = new KeptPoints(rows, new Kept());
        // More points than are held: they go by in blocks.
        const passing = new KeptPoints(rows, new Kept(0), 0);
        const all = given.map((one, at): Plain => ({ ...one, jpos: at, seq: BigInt((at * 7919) % 131) }));
        for (let shown = some; ; shown += some) {
          rows.rows = all.slice(0, shown);
          for (const { by, ...question } of questions) {
            const wanted: SeriesRequest = {
              ...request,
              ...question,
              axis: question.axis as SeriesRequest["axis"],
              groups: [
                { groupKey: "a", run: "one", worker: null },
                { groupKey: "b", run: "one", worker: null },
                { groupKey: "c", run: "two", worker: "3" },
              ],
              keys: ["loss", "lr"],
              byWorker: by === "worker",
              byPosition: by === "position",
            };
            const found = await ask(cache, wanted);
            const expected = slowSeries(rows.rows, wanted);
            const rounded = (series: typeof found) => series.map((one) => ({ ...one, mean: one.mean.map(roundMean) }));
            expect(rounded(found)).toEqual(rounded(expected));
            expect(rounded(await ask(passing, wanted))).toEqual(rounded(expected));
          }
          if (shown >= all.length) return;
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("writes every float as it is: words for what is no number, and the sign of a zero", async () => {
  const rows = new Rows();
  rows.rows = [-0, 0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null, 5e-324, 1e21].map(
    (value, at) => pointAt(at, { value }),
  );
  const [text] = await textsOf(new KeptPoints(rows, new Kept()), request);
  expect(text).toContain('"first":[-0,0,"NaN","Infinity","-Infinity",null,5e-324,1e+21]');
  expect(text).toContain('"min":[-0,0,null,null,null,null,5e-324,1e+21]');
});

test("reads only the points that came since, and none while none came", async () => {
  const rows = new Rows();
  const cache = new KeptPoints(rows, new Kept());
  rows.rows = [pointAt(1), pointAt(2), pointAt(9)];
  expect((await ask(cache, request))[0]?.points).toBe(3);
  expect((await ask(cache, { ...request, axis: "time" }))[0]?.points).toBe(3);
  expect(rows.read).toBe(3);
  rows.merges++;
  await ask(cache, request);
  expect(rows.read).toBe(3);
  rows.rows.push(pointAt(12), pointAt(13, { step: 0n, ts: 1n }));
  expect((await ask(cache, request))[0]).toMatchObject({ points: 5, x: [0, 1, 2, 9, 12] });
  expect(rows.read).toBe(5);
});

test("reads everything again when a point has gone or has come before the last", async () => {
  const rows = new Rows();
  const cache = new KeptPoints(rows, new Kept());
  rows.rows = [pointAt(1), pointAt(2), pointAt(9)];
  await ask(cache, request);
  rows.rows.shift();
  expect((await ask(cache, request))[0]?.x_base).toBe("2");
  rows.rows.push(pointAt(5));
  expect((await ask(cache, request))[0]?.points).toBe(3);
  expect(rows.read).toBe(3 + 2 + 3);
});

test("does not keep what points were written into while it was read", async () => {
  const rows = new Rows();
  const cache = new KeptPoints(rows, new Kept());
  rows.rows = [pointAt(1), pointAt(9)];
  rows.whileReading = () => {
    rows.whileReading = () => {};
    rows.rows.push(pointAt(5));
  };
  await ask(cache, request);
  expect((await ask(cache, request))[0]?.points).toBe(3);
  rows.read = 0;
  await ask(cache, request);
  expect(rows.read).toBe(0);
});

test("takes a point that is stored twice for one", async () => {
  const rows = new Rows();
  rows.rows = [pointAt(1), pointAt(2), pointAt(3, { step: 2n, ts: 2000n, seq: 2n, value: 2 / 7 })];
  const [series] = await ask(new KeptPoints(rows, new Kept()), request);
  expect(series).toMatchObject({ points: 2, count: [1, 1] });
});

test("lets go of what was longest not asked for, and keeps nothing of what is too many", async () => {
  const rows = new Rows();
  rows.rows = [pointAt(1), pointAt(2), pointAt(3, { key: "lr" })];
  const cache = new KeptPoints(rows, new Kept(10), 2);
  for (const key of ["loss", "lr", "lr", "loss"]) await ask(cache, { ...request, keys: [key] });
  expect(rows.read).toBe(2 + 1 + 2);
  rows.rows.push(pointAt(4));
  for (const _ of [1, 2])
    expect((await ask(cache, { ...request, buckets: 2 }))[0]).toMatchObject({ points: 3, count: [2, 1] });
  expect(rows.read).toBe(5 + 2 * 2 * 3);
});
