import { describe, expect, test } from "vitest";
import { storesUnderTest, suiteStore } from "../../../tests/support/store-under-test.ts";
import {
  big,
  count,
  decimal,
  flag,
  float,
  floatWord,
  int,
  list,
  nullable,
  readRow,
  readRows,
  streamRows,
  text,
} from "./native-rows.ts";

describe.each(storesUnderTest)("rows as objects out of $name", ({ open }) => {
  const store = suiteStore(open);

  test("have every value as it is: 64-bit integers exact, floats also when not finite, absent ones null", async () => {
    const sql = `SELECT toInt64(n) - 9007199254740993 AS big, toUInt8(n) AS small, toUInt32(n) AS count, toInt32(-n) AS less,
        [nan, inf, -0.][n + 1] AS float, if(n = 1, NULL, toFloat64(n)) AS maybe_float,
        if(n = 2, NULL, toInt64(-n)) AS maybe_big, if(n = 0, NULL, concat('é', toString(n))) AS maybe_text,
        concat('текст ', toString(n)) AS text, toLowCardinality(['a', '', 'a'][n + 1]) AS word
      FROM (SELECT toInt32(number) AS n FROM numbers(3)) ORDER BY n`;
    const shape = {
      big,
      small: int,
      count: int,
      less: int,
      float,
      maybe_float: nullable(float),
      maybe_big: nullable(big),
      maybe_text: nullable(text),
      text,
      word: text,
    };
    expect(await readRows(store, shape, { sql })).toEqual([
      {
        big: -9007199254740993n,
        small: 0,
        count: 0,
        less: 0,
        float: Number.NaN,
        maybe_float: 0,
        maybe_big: 0n,
        maybe_text: null,
        text: "текст 0",
        word: "a",
      },
      {
        big: -9007199254740992n,
        small: 1,
        count: 1,
        less: -1,
        float: Number.POSITIVE_INFINITY,
        maybe_float: null,
        maybe_big: -1n,
        maybe_text: "é1",
        text: "текст 1",
        word: "",
      },
      {
        big: -9007199254740991n,
        small: 2,
        count: 2,
        less: -2,
        float: -0,
        maybe_float: 2,
        maybe_big: null,
        maybe_text: "é2",
        text: "текст 2",
        word: "a",
      },
    ]);
  });

  test("come from as many blocks as the answer has, or from none", async () => {
    const sql =
      "SELECT toUInt32(number) AS n, toLowCardinality(toString(number % 7)) AS word FROM numbers(200000) ORDER BY n";
    const many = await readRows(store, { n: int, word: text }, { sql });
    expect(many).toHaveLength(200_000);
    expect([many[0], many[131_072]]).toEqual([
      { n: 0, word: "0" },
      { n: 131_072, word: String(131_072 % 7) },
    ]);
    let streamed = 0;
    for await (const { n } of streamRows(store, { n: int, word: text }, { sql })) if (n === streamed) streamed++;
    expect(streamed).toBe(200_000);
    expect(await readRows(store, { one: int }, { sql: "SELECT 1 AS one WHERE 0" })).toEqual([]);
  });

  test("have lists, flags, and 64-bit integers and floats as the API writes them", async () => {
    const sql = `SELECT [[1, nan], [inf]][number + 1] AS floats, CAST(['a', NULL], 'Array(Nullable(String))') AS texts,
        toBool(number) AS is_one, toInt64(9007199254740993) AS exact, sum(cityHash64(1)) OVER () > 0 AS is_summed,
        toUInt64(18446744073709551615) AS greatest, toInt64(number) AS n, CAST([], 'Array(Int64)') AS none
      FROM numbers(2) ORDER BY number`;
    const shape = {
      floats: list(floatWord),
      texts: list(nullable(text)),
      is_one: flag,
      exact: decimal,
      is_summed: flag,
      greatest: decimal,
      n: count,
      none: list(big),
    };
    const same = {
      texts: ["a", null],
      exact: "9007199254740993",
      is_summed: true,
      greatest: "18446744073709551615",
      none: [],
    };
    const expected = [
      { ...same, floats: [1, "NaN"], is_one: false, n: 0 },
      { ...same, floats: ["Infinity"], is_one: true, n: 1 },
    ];
    expect(await readRows(store, shape, { sql })).toEqual(expected);
    const streamed = [];
    for await (const row of streamRows(store, shape, { sql })) streamed.push(row);
    expect(streamed).toEqual(expected);
  });

  test("are refused when the answer's columns are not what was declared", async () => {
    const sql = "SELECT toInt64(1) AS a, if(number = 0, NULL, 'x') AS b FROM numbers(1)";
    const ask = (shape: Parameters<typeof readRow>[1]) => readRow(store, shape, { sql });
    expect(await ask({ a: big, b: nullable(text) })).toEqual({ a: 1n, b: null });
    await expect(ask({ a: big, b: text })).rejects.toThrow("has nullable in the column b, which is to be text");
    await expect(ask({ a: text, b: nullable(text) })).rejects.toThrow("has int64 in the column a, which is to be text");
    await expect(ask({ a: big })).rejects.toThrow("has columns that its rows have not: b");
    await expect(ask({ a: big, b: nullable(text), c: big })).rejects.toThrow("has no column c");
  });
});
