import { deflateSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { decodeInput, decodeInputAside, encodeInput, type Input } from "./input.ts";

const body = new TextEncoder().encode('{"batch_id":"b","spans":[]}'.repeat(50));
const arrival = {
  kind: "cirron_batch" as const,
  workspace: "lab",
  transport: "http",
  source: "key",
  runOverride: null,
  imported: false,
  receivedNs: 1_794_710_396_000_000_001n,
};

function journalled(input: Input): Uint8Array {
  return new Uint8Array(Buffer.concat(encodeInput(input)));
}

it("comes back from the journal as it was", () => {
  expect(decodeInput(journalled({ ...arrival, body }))).toEqual({ ...arrival, body });
});

it.each([
  ["gzip", gzipSync(body)],
  ["deflate", deflateSync(body)],
] as const)("is journalled as it was sent when that is %s, and comes back whole", (encoding, bytes) => {
  const input = { ...arrival, body, packed: { encoding, bytes } };
  const record = journalled(input);
  expect(record.length).toBeLessThan(body.length);
  const back = decodeInput(record);
  expect(Buffer.from(back?.body ?? []).equals(body)).toBe(true);
  expect(back).toMatchObject({ ...arrival, packed: { encoding } });
  // Offered to a journal again it makes the same record.
  expect(Buffer.from(journalled(back as Input)).equals(record)).toBe(true);
});

it.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
] as const)("is unpacked by another thread when it is large and %s", async (encoding, pack) => {
  const large = Buffer.alloc(2 * 1024 * 1024, "0123456789abcdef!");
  const record = journalled({ ...arrival, body: large, packed: { encoding, bytes: pack(large) } });
  const pending = decodeInputAside(record);
  expect(pending).toBeInstanceOf(Promise);
  const { body: unpacked, packed, ...rest } = (await pending) as Input;
  expect(Buffer.from(unpacked).equals(large)).toBe(true);
  expect({ ...rest, encoding: packed?.encoding }).toEqual({ ...arrival, encoding });
});

it("is none of ours when it is of another version", () => {
  const record = journalled({ ...arrival, body });
  record[0] = 9;
  expect(decodeInput(record)).toBeNull();
});
