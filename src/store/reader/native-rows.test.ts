import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type StoreUnderTest, storesUnderTest } from "../../../tests/support/store-under-test.ts";
import { readNativeRows } from "./native-rows.ts";

describe.each(storesUnderTest)("rows as objects out of $name", ({ open }) => {
  let under: StoreUnderTest;
  beforeAll(async () => {
    under = await open();
  });
  afterAll(() => under.close());

  test("have every value as it is: 64-bit integers exact, floats also when not finite, absent ones null", async () => {
    const sql = `SELECT toInt64(n) - 9007199254740993 AS big, toUInt8(n) AS small, toUInt32(n) AS count, toInt32(-n) AS less,
        [nan, inf, -0.][n + 1] AS float, if(n = 1, NULL, toFloat64(n)) AS maybe_float,
        if(n = 2, NULL, toInt64(-n)) AS maybe_big, if(n = 0, NULL, concat('é', toString(n))) AS maybe_text,
        concat('текст ', toString(n)) AS text, toLowCardinality(['a', '', 'a'][n + 1]) AS word
      FROM (SELECT toInt32(number) AS n FROM numbers(3)) ORDER BY n`;
    expect(await readNativeRows(under.store, { sql })).toEqual([
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
    const many = await readNativeRows<{ n: number }>(under.store, {
      sql: "SELECT toUInt32(number) AS n, toLowCardinality(toString(number % 7)) AS word FROM numbers(200000) ORDER BY n",
    });
    expect(many).toHaveLength(200_000);
    expect([many[0], many[131_072]]).toEqual([
      { n: 0, word: "0" },
      { n: 131_072, word: String(131_072 % 7) },
    ]);
    expect(await readNativeRows(under.store, { sql: "SELECT 1 AS one WHERE 0" })).toEqual([]);
  });
});
