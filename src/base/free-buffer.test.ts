import { promisify } from "node:util";
import { gunzip, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { freeBuffer, isFreeable } from "./free-buffer.ts";

const unzip = promisify(gunzip);

it("gives the memory of an unpacked body back at once", async () => {
  const bytes = 16 * 1024 * 1024;
  const body = await unzip(gzipSync(Buffer.alloc(bytes, "abc")), { chunkSize: bytes + 1 });
  const before = process.memoryUsage().arrayBuffers;
  freeBuffer(body);
  expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThan(bytes / 2);
  expect(body.length).toBe(0);
});

it("leaves alone what may share a buffer with others, is a part of one, or belongs to the pools", () => {
  const small = Buffer.allocUnsafe(Buffer.poolSize / 2);
  const part = new Uint8Array(256 * 1024).subarray(1024);
  const shared = new Uint8Array(new SharedArrayBuffer(256 * 1024));
  for (const bytes of [small, part, shared]) {
    const { length } = bytes;
    freeBuffer(bytes);
    expect(bytes.length).toBe(length);
  }
  expect(isFreeable(small.length)).toBe(false);
});
