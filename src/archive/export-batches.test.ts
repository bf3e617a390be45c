import { describe, expect, it } from "vitest";
import { assignBatches } from "./export-batches.ts";

const batch = (batch_id: string, received_ns: string, group_key = "g", run_override = "") => ({
  batch_id,
  group_key,
  source: "key:a",
  run_override,
  received_ns,
  sdk_version: "1",
  created_ns: "5",
  extra: "",
});
const record = (place: string, received_ns: string, group_key = "g") => ({ place, group_key, received_ns });

describe("assignBatches", () => {
  it("knows a batch by its group and the moment it arrived", () => {
    const found = assignBatches(
      [batch("b", "20"), batch("a", "10", "g", "named"), batch("c", "10", "other")],
      [record("1", "10"), record("2", "20"), record("3", "10", "other")],
    );
    expect([...found].map(([place, head]) => [place, head.batchId, head.isNamed])).toEqual([
      ["1", "a", true],
      ["2", "b", false],
      ["3", "c", false],
    ]);
  });

  it("gives two batches of one moment to two records, and one that came again to the record that is left", () => {
    const found = assignBatches(
      [batch("a", "10"), batch("b", "10"), batch("again", "99")],
      [record("1", "5"), record("2", "10"), record("3", "10")],
    );
    expect([...found.values()].map((head) => head.batchId).sort()).toEqual(["a", "again", "b"]);
    expect(found.get("1")?.batchId).toBe("again");
  });

  it("makes up the same id every time for rows whose batch is not known", () => {
    const [first, second] = [1, 2].map(() => assignBatches([], [record("7", "10")]).get("7")?.batchId);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).toBe(first);
  });
});
