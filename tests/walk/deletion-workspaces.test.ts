// Two workspaces may have runs of the same name: what is deleted in one is not touched in the other.

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { toDeletionInput } from "#intake/changes.ts";
import { type Input, ownArrival } from "#intake/input.ts";
import { formatGroupKey, groupKinds } from "#model/group-key.ts";
import { orderDeletion } from "#server/collector/deletion.ts";
import { askStore } from "../support/ask-store.ts";
import { createTestCollector, submitted, type TestCollector } from "../support/collector.ts";

let walk: TestCollector;
beforeAll(async () => {
  walk = await createTestCollector();
});
afterAll(() => walk.remove());

function artifactOf(workspace: string): Input {
  const file = { spanId: "same", blobKind: "artifact:m.bin", objectKey: `artifacts/${workspace}/same/m.bin`, size: 1 };
  const input = {
    ...ownArrival(workspace),
    kind: "blob",
    ...file,
    sha256: "",
    contentType: "",
    body: new Uint8Array(),
  };
  return input as Input;
}

test("a deleted run takes its own files with it and not those of its namesake elsewhere", async () => {
  const { collector } = walk;
  for (const workspace of ["a", "b"]) await submitted(collector, artifactOf(workspace));
  const groupKeys = [formatGroupKey("a", groupKinds.artifact, "same")];
  await submitted(collector, toDeletionInput([{ runId: "same", groupKeys }], "a", "somebody"));
  await collector.drained();
  const left = async () => {
    const sql = "SELECT toString(workspace) AS name FROM tributary.blobs FINAL WHERE deleted = 0 ORDER BY name";
    return (await askStore<{ name: string }>(collector.store, { sql })).map(({ name }) => name);
  };
  await expect.poll(left, { timeout: 20_000 }).toEqual(["b"]);
});

test("a deletion that finds no room in the journal, or cannot be applied, fails as one that may be tried again", async () => {
  const { collector } = walk;
  const order = { workspace: "a", runs: [{ runId: "other", groupKeys: [] }], author: "somebody" };
  const submit = vi.spyOn(collector.sequencer, "submit").mockReturnValueOnce("disk_full");
  await expect(orderDeletion(collector, order)).rejects.toMatchObject({ kind: "overloaded" });
  submit.mockRestore();
  vi.spyOn(collector.applier, "apply").mockImplementation(() => {
    throw new Error("a bug");
  });
  await expect(orderDeletion(collector, order)).rejects.toThrow(/could not be applied/);
  vi.restoreAllMocks();
});
