import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { atOnce } from "#base/turns.ts";
import { hashRows } from "#intake/content-hash.ts";
import { decoded } from "#wire/cirron/small-records.testing.ts";
import { contentColumns } from "./rows.ts";

test("a mark and a snapshot told by words have the content they had before the words were understood", () => {
  const [file] = globSync("tests/fixtures/cirron/diverging/.cirron/spool/*.json").sort() as [string];
  const batch = decoded(readFileSync(file));
  const hashes = (table: "marks" | "snapshots") => [...atOnce(hashRows(contentColumns(batch, table), 4))];
  // As the version before computed and stored them.
  expect(hashes("marks")).toEqual([3684673037, 3300191559, 1911264598, 2649203917]);
  expect(hashes("snapshots")).toEqual([1711906065, 1219821475, 2133833818, 2566569716]);
});

test("a span has the content that earlier versions stored, whatever columns are added", () => {
  const [file] = globSync("tests/fixtures/cirron/torch_full/.cirron/spool/*.json").sort() as [string];
  const { spans, marks, snapshots } = decoded(readFileSync(file));
  const later = { ...spans, added_later: spans.name } as typeof spans;
  const hashes = [...atOnce(hashRows(contentColumns({ spans: later, marks, snapshots }, "spans"), 4))];
  expect(hashes).toEqual([2643206307, 2067608568, 3720961933, 2011560191]);
});
