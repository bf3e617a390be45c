import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  bigInt,
  constantFrom,
  double,
  integer,
  oneof,
  option,
  record,
  string,
  uint8Array,
} from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type {
  ArrayColumn,
  DictColumn,
  Float64Column,
  Int64Column,
  NullableColumn,
  StringColumn,
} from "#base/columns.ts";
import {
  type AnyColumn,
  type ColumnType,
  createColumn,
  createRows,
  type FactTable,
  factTables,
  type Rows,
} from "#model/tables.ts";
import { askStore } from "../../../tests/support/ask-store.ts";
import { openEmbedded, suiteStore } from "../../../tests/support/store-under-test.ts";
import { encodeBlock, encodeColumns } from "./encode-block.ts";
import { encodeObjects } from "./encode-objects.ts";

const store = suiteStore(openEmbedded);
beforeAll(async () => {
  await store.ddl("CREATE DATABASE tributary ENGINE = Atomic");
});

type Value = Uint8Array | bigint | number | null | readonly Value[];

const everyType = {
  String: "String",
  "LowCardinality(String)": "LowCardinality(String)",
  Int64: "Int64",
  Int32: "Int32",
  UInt32: "UInt32",
  UInt8: "UInt8",
  Float64: "Float64",
  "Nullable(String)": "Nullable(String)",
  "Nullable(Int64)": "Nullable(Int64)",
  "Nullable(Float64)": "Nullable(Float64)",
  "Nullable(UInt8)": "Nullable(UInt8)",
  "Array(Float64)": "Array(Float64)",
  "Array(String)": "Array(String)",
} as const satisfies Record<ColumnType, ColumnType>;

const types = Object.keys(everyType) as ColumnType[];
/** Column names that need quoting nowhere. */
const columnNames = types.map((_, i) => `c${i}`);

const text = oneof(string({ unit: "grapheme", maxLength: 8 }), constantFrom("", "\0", "a\0b", "\n\n", "'\\", "é𝕏"));
const bytes = oneof(
  uint8Array({ maxLength: 70 }),
  text.map((t) => Buffer.from(t)),
);
const int64 = bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const float = oneof(double(), constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 5e-324));

const values: Record<ColumnType, Arbitrary<Value>> = {
  String: bytes,
  "LowCardinality(String)": text.map((t) => Buffer.from(t)),
  Int64: int64,
  Int32: integer(),
  UInt32: integer({ min: 0, max: 2 ** 32 - 1 }),
  UInt8: integer({ min: 0, max: 255 }),
  Float64: float,
  "Nullable(String)": option(bytes),
  "Nullable(Int64)": option(int64),
  "Nullable(Float64)": option(float),
  "Nullable(UInt8)": option(integer({ min: 0, max: 1 })),
  "Array(Float64)": array(float, { maxLength: 4 }),
  "Array(String)": array(bytes, { maxLength: 4 }),
};

const rowArbitrary = record(Object.fromEntries(types.map((type, i) => [columnNames[i], values[type]]))) as Arbitrary<
  Record<string, Value>
>;

function push(type: string, column: AnyColumn, value: Value): void {
  if (type.startsWith("Nullable(")) {
    const nullable = column as NullableColumn<StringColumn>;
    if (value === null) nullable.pushNull();
    else push(type.slice(9, -1), nullable.present(), value);
  } else if (type.startsWith("Array(")) {
    const list = column as ArrayColumn<StringColumn>;
    for (const item of value as Value[]) push(type.slice(6, -1), list.items, item);
    list.finishRow();
  } else if (type === "String") (column as StringColumn).pushBytes(value as Uint8Array);
  else if (type === "LowCardinality(String)") (column as DictColumn).push(Buffer.from(value as Uint8Array).toString());
  else if (type === "Int64") (column as Int64Column).pushBigInt(value as bigint);
  else (column as Float64Column).push(value as number);
}

/** The value as the reading query below writes it: text as hex, floats as their bits. */
function written(type: string, value: Value): unknown {
  if (value === null) return null;
  if (type.startsWith("Nullable(")) return written(type.slice(9, -1), value);
  if (type.startsWith("Array(")) return (value as Value[]).map((item) => written(type.slice(6, -1), item));
  if (type.includes("String")) return Buffer.from(value as Uint8Array).toString("hex");
  if (type === "Float64") return Number.isNaN(value) ? "nan" : floatBits(value as number);
  return type === "Int64" ? String(value) : value;
}

function floatBits(value: number): string {
  return String(new BigUint64Array(new Float64Array([value]).buffer)[0]);
}

function reading(type: string, column: string): string {
  if (type.startsWith("Array(")) return `arrayMap(x -> ${reading(type.slice(6, -1), "x")}, ${column})`;
  if (type.includes("String")) return `lower(hex(${column}))`;
  const bits = `if(isNaN(${column}), 'nan', toString(reinterpretAsUInt64(assumeNotNull(${column}))))`;
  return type.includes("Float64") ? `if(isNull(${column}), NULL, ${bits})` : column;
}

let serial = 0;

async function roundTrip(
  parts: Record<string, Value>[][],
  dropped: (Uint8Array | null)[],
): Promise<Record<string, unknown>[]> {
  const table = `round_${serial++}`;
  const typeOf = Object.fromEntries(types.map((type, i) => [columnNames[i] as string, type]));
  await store.ddl(
    `CREATE TABLE tributary.${table} (${Object.entries(typeOf)
      .map(([name, type]) => `${name} ${type}`)
      .join(", ")}, at UInt64 MATERIALIZED rowNumberInAllBlocks()) ENGINE = Memory`,
  );
  const columns = new Map(
    Object.entries(typeOf).map(([name, type]) => [
      name,
      parts.map((rows) => {
        const column = createColumn(type);
        for (const row of rows) push(type, column, row[name] as Value);
        return column;
      }),
    ]),
  );
  const runs = parts.flatMap((rows, part) =>
    rows.flatMap((_, row) => (dropped[part]?.[row] === 1 ? [] : [{ part, start: row, end: row + 1 }])),
  );
  const block = encodeColumns(typeOf, (name) => columns.get(name) as AnyColumn[], runs);
  await store.insert(table, block, { token: "one" });
  const list = Object.entries(typeOf).map(([name, type]) => `${reading(type, name)} AS ${name}_`);
  const rows = await askStore<Record<string, unknown>>(store, {
    sql: `SELECT ${list.join(", ")} FROM tributary.${table}`,
  });
  await store.ddl(`DROP TABLE tributary.${table} SYNC`);
  return rows;
}

describe("encodeColumns", () => {
  it("gives back every value of every type, from many small parts and without the dropped rows", async () => {
    const parts = array(array(rowArbitrary, { maxLength: 5 }), { maxLength: 4 });
    const seeds = uint8Array({ minLength: 20, maxLength: 20, max: 1 });
    await assert(
      asyncProperty(parts, seeds, async (rows, seed) => {
        const dropped = rows.map((part, i) => (i % 2 === 0 ? null : seed.subarray(i, i + part.length)));
        const kept = rows.flatMap((part, i) => part.filter((_, row) => dropped[i]?.[row] !== 1));
        const expected = kept.map((row) =>
          Object.fromEntries(
            types.map((type, i) => [`${columnNames[i]}_`, written(type, row[columnNames[i] as string] as Value)]),
          ),
        );
        expect(await roundTrip(rows, dropped)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });
});

/** A row with a different value in each column, to see that none is swapped. */
function fillRows<T extends FactTable>(table: T, rows: Rows<T>, count: number, offset = 0): void {
  for (const [name, type] of Object.entries(factTables[table])) {
    const column = (rows as unknown as Record<string, AnyColumn>)[name] as AnyColumn;
    for (let i = offset; i < offset + count; i++) push(type, column, sampleOf(name, type, i));
  }
}

function sampleOf(name: string, type: string, i: number): Value {
  if (type.startsWith("Nullable(")) return i % 3 === 0 ? null : sampleOf(name, type.slice(9, -1), i);
  if (type.startsWith("Array("))
    return Array.from({ length: i % 4 }, (_, k) => sampleOf(name, type.slice(6, -1), i + k));
  if (type.includes("String")) return Buffer.from(type.startsWith("Low") ? `${name}-${i % 700}` : `${name}-${i}`);
  return type === "Int64" ? BigInt(i) * 1_000_000_007n : type === "UInt8" ? i % 2 : i;
}

describe("encodeBlock", () => {
  it.each(Object.keys(factTables) as FactTable[])("makes a block of %s that the engine takes", async (table) => {
    const parts = [createRows(table), createRows(table), createRows(table)];
    fillRows(table, parts[0]!, 500);
    fillRows(table, parts[2]!, 1000, 500);
    const columns = Object.entries(factTables[table]).map(([name, type]) => `\`${name}\` ${type}`);
    await store.ddl(`CREATE TABLE tributary.f_${table} (${columns.join(", ")}) ENGINE = Memory`);
    const block = encodeBlock(table, parts);
    expect(block.rows).toBe(1500);
    await store.insert(`f_${table}`, block, { token: "one" });
    const [row] = await askStore<{ n: string; first: string; groups: string }>(store, {
      sql: `SELECT count() AS n, any(group_key) AS first, uniqExact(group_key) AS groups FROM tributary.f_${table}`,
    });
    expect(row).toEqual({ n: "1500", first: "group_key-0", groups: "700" });
  });

  it("keeps a dictionary with more keys than fit in one or two bytes", async () => {
    await store.ddl("CREATE TABLE tributary.wide (k LowCardinality(String)) ENGINE = Memory");
    for (const [count, token] of [
      [300, "a"],
      [70_000, "b"],
    ] as const) {
      const column = createColumn("LowCardinality(String)");
      for (let i = 0; i < count; i++) column.push(`key ${i}`);
      await store.insert(
        "wide",
        encodeColumns({ k: "LowCardinality(String)" }, () => [column], [{ part: 0, start: 0, end: count }]),
        { token },
      );
      const sql =
        "SELECT count() AS n, uniqExact(k) AS keys, sum(k = concat('key ', toString(rowNumberInAllBlocks()))) AS right FROM tributary.wide";
      const [row] = await askStore(store, { sql });
      expect(row).toEqual({ n: String(count), keys: String(count), right: String(count) });
      await store.ddl("TRUNCATE TABLE tributary.wide");
    }
  });

  it("makes a block without rows that the engine takes", async () => {
    await store.ddl("CREATE TABLE tributary.empty AS tributary.f_nodes ENGINE = Memory");
    const block = encodeBlock("nodes", [createRows("nodes")]);
    expect(block.rows).toBe(0);
    await store.insert("empty", block, { token: "one" });
    await store.insert("empty", encodeBlock("nodes", []), { token: "two" });
    expect(await askStore(store, { sql: "SELECT count() AS n FROM tributary.empty" })).toEqual([{ n: "0" }]);
  });

  it("refuses rows in which a column was forgotten, and names it", () => {
    const rows = createRows("seq_ranges");
    fillRows("seq_ranges", rows, 2);
    rows.group_key.push("one more");
    expect(() => encodeBlock("seq_ranges", [rows])).toThrow(/^seq_ranges\.\w+ is not filled in every row$/);
  });

  it("leaves out exactly the rows marked as dropped", () => {
    const rows = createRows("seq_ranges");
    fillRows("seq_ranges", rows, 6);
    const kept = createRows("seq_ranges");
    for (const i of [1, 2, 4]) fillRows("seq_ranges", kept, 1, i);
    const block = encodeBlock("seq_ranges", [rows], [Uint8Array.of(1, 0, 0, 1, 0, 1)]);
    expect(block.rows).toBe(3);
    expect(Buffer.from(block.bytes).equals(encodeBlock("seq_ranges", [kept]).bytes)).toBe(true);
  });
});

describe("encodeObjects", () => {
  it("writes rows given as objects, with 64-bit integers exact", async () => {
    await store.ddl(
      "CREATE TABLE tributary.objects (id String, n Int64, m Nullable(Int64), l LowCardinality(String), a Array(String), f UInt8) ENGINE = Memory",
    );
    const columns = {
      id: "String",
      n: "Int64",
      m: "Nullable(Int64)",
      l: "LowCardinality(String)",
      a: "Array(String)",
      f: "UInt8",
    } as const;
    const rows = [
      { id: "a\0b", n: 9223372036854775807n, m: null, l: "x", a: ["p", ""], f: 1 },
      { id: "", n: -9007199254740993n, m: 5, l: "", a: [], f: 0 },
    ];
    await store.insert("objects", encodeObjects(columns, rows), { token: "one" });
    expect(await askStore(store, { sql: "SELECT * FROM tributary.objects ORDER BY f DESC" })).toEqual([
      { id: "a\0b", n: "9223372036854775807", m: null, l: "x", a: ["p", ""], f: 1 },
      { id: "", n: "-9007199254740993", m: "5", l: "", a: [], f: 0 },
    ]);
  });
});
