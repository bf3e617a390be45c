import { globSync } from "node:fs";
import { basename } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatSpoolName } from "./encode.ts";
import { isTemporaryName, parseSpoolName } from "./spool-name.ts";

const hex32 = fc.stringMatching(/^[0-9a-f]{32}$/);

test("reads the time and the batch out of every recorded name [CT-01] [CT-02]", () => {
  const names = globSync("{tests/fixtures/cirron,examples/data/h200}/*/.cirron/spool/*.json").map((file) =>
    basename(file),
  );
  expect(names.length).toBeGreaterThanOrEqual(27);
  for (const name of names) {
    const parsed = parseSpoolName(name);
    if (parsed === null) throw new Error(name);
    expect(formatSpoolName(String(parsed.createdNs), parsed.batchId)).toBe(name);
  }
});

test("names sort as text in the order of time [CT-02]", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      hex32,
      (a, b, id) => {
        const [first, second] = [formatSpoolName(String(a), id), formatSpoolName(String(b), id)];
        expect(first < second).toBe(a < b);
        expect(parseSpoolName(first)).toStrictEqual({ createdNs: a, batchId: id });
      },
    ),
  );
});

test.each([
  "01794710657812726760-f5a733f780b84768ae44dc64be2a1860.json.tmp",
  "1794710657812726760-f5a733f780b84768ae44dc64be2a1860.json",
  "01794710657812726760-F5A733F780B84768AE44DC64BE2A1860.json",
  "01794710657812726760-f5a733f780b84768ae44dc64be2a186.json",
  "batch.json",
  "",
])("%j is no name of a whole batch [CT-03]", (name) => {
  expect(parseSpoolName(name)).toBeNull();
  expect(isTemporaryName(name)).toBe(name.endsWith(".tmp"));
});
