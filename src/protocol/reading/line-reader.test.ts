import { appendFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { LineReader } from "./line-reader.ts";
import type { ReaderOptions } from "./reader.ts";

afterEach(() => vi.restoreAllMocks());

class Lines extends LineReader {
  readonly taken: Buffer[] = [];
  protected async take(lines: Buffer): Promise<void> {
    if (lines.length > 0) this.taken.push(lines);
  }
}

const options = { pace: { windowNs: 0n } } as ReaderOptions;

test("a long line is put together once, not again for every chunk", async () => {
  const path = join(makeFolder(), "long.jsonl");
  const longBytes = 24 * 1024 * 1024;
  writeFileSync(path, "first\n");
  truncateSync(path, longBytes);
  appendFileSync(path, "\nlast\n");
  const concat = vi.spyOn(Buffer, "concat");
  const reader = new Lines({ path, source: "" }, options);
  while (await reader.poll());
  await reader.finish();
  const joined = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0);
  concat.mockRestore();
  const all = Buffer.concat(reader.taken);
  expect([all.length, all.subarray(-6).toString()]).toEqual([longBytes + 6, "\nlast\n"]);
  expect(joined).toBeLessThan(2 * longBytes);
});
