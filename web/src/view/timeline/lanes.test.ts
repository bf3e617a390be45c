import { expect, test } from "vitest";
import type { Lane } from "#api/contract/span.ts";
import { placeLanes, rowAt } from "./lanes.ts";

function lane(id: number, rank: number, thread: string, depth: number): Lane {
  return { id, rank, pid: "7", thread, session: "s", label: `lane ${id}`, depth, spans: 1, has_gpu: false };
}

test("stacks lanes by rank, each as high as its nesting", () => {
  const { placed, height } = placeLanes([lane(0, 1, "5", 2), lane(1, 0, "5", 3)]);
  expect(placed.map((each) => [each.lane.id, each.title])).toEqual([
    [1, "rank 0"],
    [0, "rank 1"],
  ]);
  expect(placed[1]?.top).toBe(placed[0]?.height);
  expect(height).toBe((placed[0]?.height ?? 0) + (placed[1]?.height ?? 0));
});

test("a title holds only what tells lanes apart", () => {
  expect(placeLanes([lane(0, 0, "5", 1)]).placed[0]?.title).toBe("rank 0");
  expect(placeLanes([lane(0, 0, "100001", 1), lane(1, 0, "100002", 1)]).placed[1]?.title).toBe(
    "rank 0 · thread 100002",
  );
});

test("knows which row of nesting lies under the pointer", () => {
  const { placed } = placeLanes([lane(0, 0, "5", 2)]);
  const top = placed[0]?.rowsTop ?? 0;
  expect(rowAt(placed, top + 1)?.depth).toBe(0);
  expect(rowAt(placed, top + 19)?.depth).toBe(1);
  expect(rowAt(placed, top + 40)).toBeNull();
  expect(rowAt(placed, 2)).toBeNull();
});
