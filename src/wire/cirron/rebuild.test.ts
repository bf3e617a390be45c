import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Cell, toCells } from "#model/cells.testing.ts";
import { expectEqual } from "../../../tests/support/expect-equal.ts";
import {
  type BatchTree,
  decoded,
  readIndependently,
  rebuilt,
  sameNumbers,
  type Tree,
} from "./small-records.testing.ts";

const spoolFiles = globSync("{tests/fixtures/cirron,examples/data/h200}/*/.cirron/spool/*.json");

describe("the recorded batches of a real SDK", () => {
  test("are all here", () => expect(spoolFiles.length).toBeGreaterThanOrEqual(27));

  test.each(spoolFiles)(
    "%s is rebuilt from its columns, equal in every value [CT-05] [CT-06] [CT-08] [CT-13]",
    (file) => {
      const text = readFileSync(file, "utf8");
      const batch = decoded(readFileSync(file));
      const sent = readIndependently(text) as BatchTree;
      expect(batch.faults).toStrictEqual([]);
      expect(batch.extra).toBe("");
      expect([batch.batchId, batch.sdkVersion]).toStrictEqual([sent["batch_id"], sent["sdk_version"]]);
      expect(`#${batch.createdNs}`).toBe(sent["created_ns"]);
      const { spans, marks, snapshots } = sent;
      expectEqual(sameNumbers(rebuilt(batch)), sameNumbers({ spans, marks, snapshots }));
    },
  );

  test.each(spoolFiles)("%s has every field in its own column", (file) => {
    const sent = readIndependently(readFileSync(file, "utf8")) as BatchTree;
    const batch = decoded(readFileSync(file));
    for (const [row, tree] of sent.spans.entries()) {
      const cells = toCells(batch.spans, row);
      for (const column of [
        "start_ns",
        "end_ns",
        "cpu_ns",
        "gpu_ns",
        "memory_peak_bytes",
        "thread_id",
        "pid",
        "rank",
      ]) {
        expectEqual(cells[column] === null ? null : `#${cells[column]}`, tree[column]);
      }
      expectEqual([cells["span_id"], cells["parent_id"]], [tree["id"], tree["parent_id"]]);
      if (typeof tree["name"] === "string" && !tree["name"].startsWith("#")) expect(cells["name"]).toBe(tree["name"]);
    }
    for (const [row, tree] of sent.snapshots.entries()) expectStats(toCells(batch.snapshots, row), tree);
  });
});

/** The same JSON with blanks between all tokens, which leaves the decoder none of its short cuts. */
function spread(text: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^"{}[\],:\s]+/g, (token) => ` ${token}\n\t`);
}

test.each(spoolFiles)("%s gives the same rows whether its JSON is compact or not", (file) => {
  const text = readFileSync(file, "utf8");
  const [compact, loose] = [decoded(text), decoded(spread(text))];
  for (const table of ["spans", "marks", "snapshots"] as const) {
    const [left, right] = [compact[table], loose[table]];
    expect(right.flags.length).toBe(left.flags.length);
    for (let row = 0; row < left.flags.length; row++) {
      const [a, b] = [toCells(left, row), toCells(right, row)];
      // The exact text is kept where strict JSON cannot say it, and there blanks count.
      expectEqual(b["raw"] === "", a["raw"] === "");
      expectEqual({ ...b, raw: "" }, { ...a, raw: "" });
    }
  }
});

test("a batch may stand anywhere in a larger buffer, and its rows do not change when that buffer does", () => {
  const bytes = readFileSync(spoolFiles.toSorted()[3] as string);
  const buffer = new Uint8Array(bytes.length + 20).fill(0x22);
  buffer.set(bytes, 7);
  const batch = decoded(buffer.subarray(7, 7 + bytes.length));
  buffer.fill(0);
  expect(sameNumbers(rebuilt(batch))).toStrictEqual(sameNumbers(rebuilt(decoded(bytes))));
});

interface StatsTree extends Tree {
  readonly histogram?: { readonly bins: string[]; readonly counts: string[] };
  readonly finite?: StatsTree;
  readonly nonfinite?: Readonly<Record<string, "nan">>;
}

function expectStats(cells: Record<string, Cell>, tree: Tree): void {
  const stats = tree["stats"] as StatsTree;
  for (const name of ["mean", "std", "min", "max", "norm"])
    expect(cells[name], name).toBe(stats.nonfinite?.[name] === "nan" ? Number.NaN : sameNumbers(stats[name]));
  const histogram = stats.histogram ?? stats.finite?.histogram;
  const numbers = (list: string[]) => list.map((text) => Number(text.slice(1)));
  expectEqual(cells["bins"], numbers(histogram?.bins ?? []));
  expectEqual(cells["counts"], numbers(histogram?.counts ?? []));
  if (histogram !== undefined) expect((cells["bins"] as number[]).length).toBe(17);
}
