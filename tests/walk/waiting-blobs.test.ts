// Blobs come before their spans, and of some the span never comes.

import { Readable } from "node:stream";
import { expect, test, vi } from "vitest";
import { nowNs } from "#base/clock.ts";
import { type BlobRoom, createBlobRoom } from "#server/collector/blob-intake.ts";
import { askStore } from "../support/ask-store.ts";
import { hex, toBatchText } from "../support/cirron-batch.ts";
import { cirronInput, createTestCollector, submitted } from "../support/collector.ts";

const names = Array.from({ length: 30 }, (_, at) => `span ${at}`);
const come = ["span 7", "span 21"];

function put(room: BlobRoom, name: string): ReturnType<BlobRoom["putBlob"]> {
  const arrival = { workspace: "default", source: "test", runOverride: null, receivedNs: nowNs() };
  const body = Readable.from([Buffer.from(name)]);
  const key = `snapshots/${hex(name)}/weights.safetensors`;
  return room.putBlob({ ...arrival, key, contentType: "application/octet-stream", body });
}

test("those that wait cost a start a few questions, however many they are, and those whose span came are found", async () => {
  const job = await createTestCollector();
  const openRoom = () => createBlobRoom(job.collector, 1000);
  try {
    const room = await openRoom();
    for (const name of names) await put(room, name);
    await job.reopen();
    // While nobody looks for their blobs.
    const spans = come.map((id, at) => ({ id, parent: null, name: "step", at }));
    await submitted(job.collector, cirronInput(Buffer.from(toBatchText("late", spans)), { runOverride: "found" }));
    await job.collector.drained();
    await job.reopen();
    const spy = vi.spyOn(job.collector.store, "stream");
    const again = await openRoom();
    const questions = spy.mock.calls.filter(([{ sql }]) => /cirron_ids\s+WHERE id_key IN/.test(sql));
    spy.mockRestore();
    expect(questions.length).toBe(1);
    await again.settled();
    await job.collector.drained();
    const sql = "SELECT object_key FROM tributary.blobs FINAL WHERE object_key LIKE 'traces/%' ORDER BY object_key";
    expect(await askStore(job.collector.store, { sql })).toEqual(
      come.map((name) => ({ object_key: `traces/default/found/${hex(name)}/weights.safetensors` })).sort(byKey),
    );
  } finally {
    await job.remove();
  }
});

test("one that could not be moved is moved with the next spans", async () => {
  const told: string[] = [];
  const job = await createTestCollector(undefined, { onTrouble: (message) => told.push(message) });
  const { collector } = job;
  const arrive = async (name: string, at: number): Promise<void> => {
    const spans = [{ id: name, parent: null, name: "step", at }];
    await submitted(collector, cirronInput(Buffer.from(toBatchText(`batch ${at}`, spans)), { runOverride: "found" }));
  };
  try {
    const room = await createBlobRoom(collector, 1000);
    await put(room, "late");
    const move = vi.spyOn(collector.blobs, "move").mockRejectedValueOnce(new Error("away"));
    await arrive("late", 0);
    await room.settled();
    expect(told).toEqual(["A blob could not be moved to its run; it is tried again with the next spans."]);
    await arrive("other", 1);
    await room.settled();
    expect(move).toHaveBeenCalledTimes(2);
    expect(await collector.blobs.size(`traces/default/found/${hex("late")}/weights.safetensors`)).toBe(4);
  } finally {
    await job.remove();
  }
});

function byKey(one: { object_key: string }, two: { object_key: string }): number {
  return one.object_key < two.object_key ? -1 : 1;
}
