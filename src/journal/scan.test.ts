import fc from "fast-check";
import { expect, it } from "vitest";
import { createMemoryFiles } from "#base/memory-files.testing.ts";
import { encodeGroup, type Waiting } from "./group.ts";
import { recordHeaderBytes } from "./layout.ts";
import { scanRecords } from "./scan.ts";

const path = "/segment";
const salt = 0x9d1e_77aa;

function toWaiting(parts: readonly Uint8Array[]): Waiting {
  const bytes = parts.reduce((sum, part) => sum + part.length, recordHeaderBytes);
  return { parts, bytes, resolve: () => undefined, reject: () => undefined };
}

async function scan(stored: Uint8Array, chunkBytes: number): Promise<Map<number, string>> {
  const files = createMemoryFiles();
  const file = await files.open(path, "create");
  if (stored.length > 0) await file.write([stored], 0);
  const found = new Map<number, string>();
  const range = { salt, offset: 0, endOffset: stored.length, endPosition: Number.MAX_SAFE_INTEGER, chunkBytes };
  for await (const records of scanRecords(file, range)) {
    for (const { position, payload } of records) found.set(position, Buffer.from(payload).toString("hex"));
  }
  return found;
}

const part = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc.uint8Array({ minLength: 16_384, maxLength: 20_000 }),
  fc.constant(Buffer.from("JRECJREC")),
);
const records = fc.array(fc.array(part, { maxLength: 4 }), { minLength: 1, maxLength: 12 });
const chunkSize = fc.oneof(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1000, max: 70_000 }));

it("gives back any payloads, however they were cut into parts and read in chunks", async () => {
  await fc.assert(
    fc.asyncProperty(records, chunkSize, async (payloads, chunkBytes) => {
      const { buffers } = encodeGroup(payloads.map(toWaiting), 7, salt);
      const found = await scan(Buffer.concat(buffers), chunkBytes);
      const expected = payloads.map((parts, n) => [7 + n, Buffer.concat(parts).toString("hex")] as const);
      expect([...found]).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

it("loses only the records that damage touches", async () => {
  const damage = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), junk: fc.uint8Array({ maxLength: 50 }) });
  await fc.assert(
    fc.asyncProperty(records, damage, fc.nat(60), chunkSize, async (payloads, { at, junk }, cut, chunkBytes) => {
      const { buffers, bytes } = encodeGroup(payloads.map(toWaiting), 1, salt);
      const whole = Buffer.concat(buffers);
      const from = Math.floor(at * bytes);
      const to = Math.min(from + cut, bytes);
      const found = await scan(Buffer.concat([whole.subarray(0, from), junk, whole.subarray(to)]), chunkBytes);
      let offset = 0;
      for (const [n, parts] of payloads.entries()) {
        const end = offset + toWaiting(parts).bytes;
        if (end <= from || offset >= to) expect(found.get(n + 1)).toBe(Buffer.concat(parts).toString("hex"));
        offset = end;
      }
    }),
    // The example once lost the record after a payload that had become shorter.
    {
      numRuns: 150,
      examples: [[[[new Uint8Array(100)], [new Uint8Array(5)]], { at: 0.5, junk: new Uint8Array(0) }, 20, 1000]],
      interruptAfterTimeLimit: 10_000,
    },
  );
});
