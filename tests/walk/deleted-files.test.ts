// Files of a deleted run that are sent again at once, as an import does that restores it.

import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { nowNs } from "#base/clock.ts";
import { formatGroupKey, groupKinds } from "#model/group-key.ts";
import { type BlobRoom, createBlobRoom } from "#server/collector/blob-intake.ts";
import { orderDeletion } from "#server/collector/deletion.ts";
import { isBusy } from "#server/http/ports.ts";
import { readHiddenGroups } from "#store/delete-groups.ts";
import { askStore } from "../support/ask-store.ts";
import { createTestCollector } from "../support/collector.ts";

const key = "m.bin";

/** As a client does: until it is taken. */
async function put(room: BlobRoom, content: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const body = Readable.from([Buffer.from(content)]);
        const arrival = { workspace: "default", source: "test", runOverride: "r", receivedNs: nowNs() };
        return isBusy(await room.putArtifact({ ...arrival, key, contentType: "text/plain", body }));
      },
      { timeout: 20_000 },
    )
    .toBe(false);
}

test.each(["the same", "another"])("are kept, with %s content", async (content) => {
  const job = await createTestCollector();
  const { collector } = job;
  try {
    const room = await createBlobRoom(collector, 1000);
    await put(room, "the same");
    await collector.drained();
    const runs = [{ runId: "r", groupKeys: [formatGroupKey("default", groupKinds.artifact, "r")] }];
    await orderDeletion(collector, { workspace: "default", runs, author: "somebody" });
    await put(room, content);
    await expect.poll(() => readHiddenGroups(collector.store), { timeout: 20_000 }).toEqual([]);
    await collector.drained();
    const rows = await askStore(collector.store, { sql: "SELECT object_key FROM tributary.blobs FINAL" });
    const objectKey = "artifacts/default/r/m.bin";
    expect(rows).toEqual([{ object_key: objectKey }]);
    expect(await text(collector.blobs.read(objectKey))).toBe(content);
  } finally {
    await job.remove();
  }
});
