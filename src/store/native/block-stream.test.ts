import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { expectEqual } from "../../../tests/support/expect-equal.ts";
import { openEmbedded, suiteStore } from "../../../tests/support/store-under-test.ts";
import { streamBlocks } from "./block-stream.ts";
import { type DecodedBlock, decodeBlocks } from "./decode-block.ts";

const store = suiteStore(openEmbedded);
let bytes: Buffer;

beforeAll(async () => {
  const chunks: Uint8Array[] = [];
  const sql = `SELECT toInt64(number) - 5 AS a, toFloat64(number) / 3 AS b, toUInt32(number) AS c, toInt32(-number) AS d,
      toUInt8(number) AS e, toString(number * number) AS f, toFixedString(leftPad(toString(number), 6, '0'), 6) AS g,
      toLowCardinality(toString(number % 7)) AS h
    FROM numbers(1000) SETTINGS max_block_size = 300`;
  for await (const chunk of store.stream({ sql }, { format: "Native" })) chunks.push(chunk);
  bytes = Buffer.concat(chunks);
});

async function* cut(sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, part = 0; at < bytes.length; part++) {
    const end = at + (sizes[part % sizes.length] as number);
    yield bytes.subarray(at, end);
    at = end;
  }
}

test("gives the same blocks however the bytes are cut", async () => {
  const whole = [...decodeBlocks(bytes)];
  expect(whole.reduce((sum, { rows }) => sum + rows, 0)).toBe(1000);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 8 }), async (sizes) => {
      const found: DecodedBlock[] = [];
      for await (const block of streamBlocks(cut(sizes))) found.push(block);
      expectEqual(found, whole);
    }),
    { numRuns: 30 },
  );
});

test("says when the bytes end in the middle of a block", async () => {
  async function* torn(): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(0, bytes.length - 1);
  }
  const readAll = async (): Promise<void> => {
    for await (const _ of streamBlocks(torn()));
  };
  await expect(readAll()).rejects.toThrow("in the middle of a block");
});
