import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { assert, asyncProperty, string } from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { askStore } from "../../tests/support/ask-store.ts";
import { makeFolder } from "../../tests/support/folder.ts";
import { storesUnderTest, suiteStore } from "../../tests/support/store-under-test.ts";
import { encodeObjects } from "./native/encode-objects.ts";
import { StoreOutage } from "./outage.ts";
import { type ReadOptions, takenAway } from "./store.ts";

const columns = { id: "Int64", text: "String" } as const;

/** The outage a call ends with. */
async function outageOf(call: Promise<unknown>): Promise<StoreOutage> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreOutage);
  return error as StoreOutage;
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

describe.each(storesUnderTest)("a store on $name", ({ open }) => {
  const store = suiteStore(open);
  beforeAll(async () => {
    await store.ddl(`CREATE DATABASE ${store.database} ENGINE = Atomic`);
    await store.ddl(
      `CREATE TABLE ${store.database}.t (id Int64, text String) ENGINE = ReplacingMergeTree ORDER BY id
        SETTINGS non_replicated_deduplication_window = 100`,
    );
  });

  it("answers a ping", async () => {
    expect(await store.ping()).toBe(true);
  });

  it("takes a block with a token once, however often it is sent", async () => {
    const block = encodeObjects(columns, [{ id: 1n, text: "one" }]);
    for (const token of ["a", "a", "b"]) await store.insert("t", block, { token });
    const [row] = await askStore(store, { sql: `SELECT count() AS n FROM ${store.database}.t` });
    expect(row).toEqual({ n: "2" });
  });

  it("inserts a block that lies in a file too, once, wherever the store reads it", async () => {
    const folder = makeFolder();
    const file = join(folder, "it's a block");
    const block = encodeObjects(columns, [{ id: 4711n, text: "from a file" }]);
    writeFileSync(file, block.bytes);
    for (let i = 0; i < 2; i++) await store.insert("t", block, { token: "file", file });
    const sql = `SELECT text FROM ${store.database}.t WHERE id = 4711`;
    expect(await askStore(store, { sql })).toEqual([{ text: "from a file" }]);
  });

  it("does not run inserted bytes as SQL, whatever they are", async () => {
    const text = "x\n\nDROP TABLE t; --\n\n; SELECT 1";
    await store.insert("t", encodeObjects(columns, [{ id: 77n, text }]), { token: "hostile" });
    expect(await askStore(store, { sql: `SELECT text FROM ${store.database}.t WHERE id = 77` })).toEqual([{ text }]);
  });

  it("gives back any text that is passed as a parameter, alone and in a list", async () => {
    await assert(
      asyncProperty(string({ unit: "binary" }), async (text) => {
        const [row] = await askStore(store, {
          sql: "SELECT {x:String} AS x, {list:Array(String)} AS list, {none:Nullable(String)} AS none",
          params: { x: text, list: ["", text], none: null },
        });
        expect(row).toEqual({ x: text, list: ["", text], none: null });
      }),
      {
        examples: [["'; DROP TABLE t; --"], ["\\"], ["\\N"], ["\0\b\f\n\r\t'\"`"], ["NULL"], ["{y:String}"]],
        numRuns: 60,
      },
    );
  });

  it("takes a list of any length as a parameter", async () => {
    const list = Array.from({ length: 60_000 }, (_, i) => `default/x/it's \\ run ${i}`);
    const [row] = await askStore(store, {
      sql: `SELECT length({list:Array(String)}) AS n, {list:Array(String)}[-1] AS last, count() AS found
        FROM numbers(100) WHERE concat('default/x/it\\'s \\\\ run ', toString(number)) IN {list:Array(String)}`,
      params: { list },
    });
    expect(row).toEqual({ n: "60000", last: list.at(-1), found: "100" });
  });

  it("passes numbers, big integers, booleans and lists of them as parameters", async () => {
    const [row] = await askStore(store, {
      sql: "SELECT {a:Int64} AS a, {b:Float64} AS b, {c:Float64} AS c, {d:Bool} AS d, {e:Array(Int64)} AS e",
      params: { a: -(2n ** 63n), b: 0.1, c: Number.NEGATIVE_INFINITY, d: true, e: [1n, 2n ** 62n] },
    });
    expect(row).toEqual({
      a: "-9223372036854775808",
      b: 0.1,
      c: "-Infinity",
      d: true,
      e: ["1", "4611686018427387904"],
    });
  });

  it("writes 64-bit integers as text and smaller ones as numbers", async () => {
    const [row] = await askStore(store, {
      sql: "SELECT toInt64(9223372036854775807) AS a, toUInt64(18446744073709551615) AS b, toInt32(-5) AS c, toInt128(1) AS d",
    });
    expect(row).toEqual({ a: "9223372036854775807", b: "18446744073709551615", c: -5, d: "1" });
  });

  it("tells the words of a float from a text that looks like one", async () => {
    const [row] = await askStore(store, {
      sql: `SELECT nan AS a, inf AS b, -inf AS c, 'nan' AS d, 'inf' AS e, [nan, 1.5] AS f, map('inf', -inf) AS g,
        CAST((nan, 'nan'), 'Tuple(x Float32, y String)') AS h, toNullable(nan) AS i, -0.0 AS j, 5e-324 AS k`,
    });
    expect(row).toEqual({
      a: "NaN",
      b: "Infinity",
      c: "-Infinity",
      d: "nan",
      e: "inf",
      f: ["NaN", 1.5],
      g: { inf: "-Infinity" },
      h: { x: "NaN", y: "nan" },
      i: "NaN",
      j: -0,
      k: 5e-324,
    });
  });

  it("names columns and types before the first row, also when there is none", async () => {
    const none = await store.answer({ sql: "SELECT 1 AS a, 'x' AS b WHERE 0" });
    expect(none.header).toEqual({ names: ["a", "b"], types: ["UInt8", "String"] });
    expect((await collect(none.chunks)).length).toBe(0);
    const some = await store.answer({ sql: "SELECT number AS n FROM numbers(2)" });
    expect((await collect(some.chunks)).toString()).toBe('["0"]\n["1"]\n');
  });

  it("streams a large answer whole", async () => {
    const rows = await store.answer({ sql: "SELECT number, toString(number) FROM numbers(300000)" });
    const bytes = await collect(rows.chunks);
    const lines = bytes.toString().split("\n");
    expect(lines.length).toBe(300001);
    expect(JSON.parse(lines[299999]!)).toEqual(["299999", "299999"]);
    const parquet = await collect(store.stream({ sql: "SELECT number FROM numbers(200000)" }, { format: "Parquet" }));
    expect(parquet.toString("latin1").split("PAR1").length).toBe(3);
  });

  it("says what kind of outage an error is", async () => {
    expect(await outageOf(askStore(store, { sql: "SELECT nosuch" }))).toMatchObject({
      kind: "refused",
      code: 47,
      retryable: false,
    });
    expect(await outageOf(askStore(store, { sql: "SELEC 1" }))).toMatchObject({ kind: "refused", code: 62 });
    expect(await outageOf(askStore(store, { sql: "SELECT throwIf(number = 3) FROM numbers(5)" }))).toMatchObject({
      code: 395,
    });
    expect(await outageOf(askStore(store, { sql: "SELECT number FROM numbers(100)" }, { rowsMax: 10 }))).toMatchObject({
      kind: "too_large",
    });
    const slow = askStore(
      store,
      { sql: "SELECT sum(sipHash64(number)) FROM numbers(100000000000)" },
      { timeoutMs: 200 },
    );
    expect(await outageOf(slow)).toMatchObject({ kind: "timeout", code: 159 });
  });

  it("lets who takes something away take their time, which would be over for a question", async () => {
    const query = { sql: "SELECT number, repeat('x', 100) FROM numbers(3000000)" };
    const takeSlowly = async (options: ReadOptions): Promise<number> => {
      let bytes = 0;
      for await (const chunk of store.stream(query, { ...options, format: "Native" })) {
        if (bytes === 0) await sleep(2000);
        bytes += chunk.length;
      }
      return bytes;
    };
    expect(await outageOf(takeSlowly({ timeoutMs: 1000 }))).toMatchObject({ kind: "timeout" });
    expect(await takeSlowly(takenAway)).toBeGreaterThan(100_000_000);
  });

  it("fails a stream that breaks off, instead of ending it", async () => {
    const sql = "SELECT number, throwIf(number = 2000000) FROM numbers(3000000)";
    const outage = await outageOf(askStore(store, { sql }));
    if (store.kind === "embedded") expect(outage).toMatchObject({ code: 395, kind: "refused" });
  });

  it("lets a setting of one query not change the next", async () => {
    await askStore(store, { sql: "SELECT 1" }, { rowsMax: 1, timeoutMs: 5000, memoryBytesMax: 100_000_000 });
    for (let i = 0; i < 6; i++) {
      const [row] = await askStore<{ rows: number }>(store, {
        sql: "SELECT getSetting('max_result_rows') AS rows FROM numbers(1)",
      });
      expect(Number(row?.rows)).toBe(0);
    }
  });

  it("ends a query in the engine when its caller gives up", async () => {
    const gone = new AbortController();
    const marker = "caller_gives_up";
    const sql = `SELECT sum(sipHash64(number, '${marker}')) FROM numbers(1000000000000)`;
    const call = outageOf(askStore(store, { sql }, { signal: gone.signal }));
    const running = async (): Promise<number> =>
      (
        await askStore(store, {
          sql: "SELECT 1 FROM system.processes WHERE query LIKE {like:String} AND query NOT LIKE '%system.processes%' AND NOT is_cancelled",
          params: { like: `%${marker}%` },
        })
      ).length;
    await expect.poll(running, { timeout: 5000 }).toBe(1);
    gone.abort();
    expect(await call).toMatchObject({ kind: "cancelled", retryable: false });
    await expect.poll(running, { timeout: 5000 }).toBe(0);
  });

  it("ends a query in the engine when its reader stops in the middle", async () => {
    const sql = "SELECT number, 'reader_stops' FROM numbers(10000000000)";
    const { chunks } = await store.answer({ sql });
    for await (const chunk of chunks) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    const running = async (): Promise<number> =>
      (
        await askStore(store, {
          sql: "SELECT 1 FROM system.processes WHERE query LIKE '%reader_stops%' AND query NOT LIKE '%system.processes%' AND NOT is_cancelled",
        })
      ).length;
    await expect.poll(running, { timeout: 5000 }).toBe(0);
  });

  it("runs queries with parameters side by side", async () => {
    const calls = Array.from({ length: 40 }, (_, i) =>
      askStore<{ x: number }>(store, { sql: "SELECT {x:UInt32} AS x, sleepEachRow(0.01)", params: { x: i } }),
    );
    const answers = await Promise.all(calls);
    expect(answers.map(([row]) => row?.x)).toEqual(Array.from({ length: 40 }, (_, i) => i));
  });

  it("reports its tables", async () => {
    const { tables } = await store.stats();
    expect(tables.find(({ table }) => table === "t")).toMatchObject({ table: "t" });
  });
});
