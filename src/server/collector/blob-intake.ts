// Blobs: streamed to the blob store, then named in the journal, then answered. The SDK sends a span's file before
// the batch with the span, so a blob may come for a run nobody knows yet: it waits under the workspace, takes its
// documented place once its run is known, and never moves again.

import type { ProtocolApplier } from "#intake/applier.ts";
import type { BlobInput } from "#intake/input.ts";
import type { BlobIntake, BlobPut, BlobRefused, BlobStored, Busy } from "#server/http/ports.ts";
import type { BlobStore, Stored } from "#store/blobs/blob-store.ts";
import { artifactKey, tensorKey, waitingKey } from "#store/blobs/object-key.ts";
import { readStateRows } from "#store/reader/restore.ts";
import type { Collector } from "./collector.ts";

const keyPattern = /^snapshots\/([^/]+)\/([^/]+)\.([A-Za-z0-9]+)$/;
const waitingPrefix = "waiting/";

interface WaitingBlob {
  readonly workspace: string;
  readonly spanId: string;
  readonly kind: string;
  readonly ext: string;
  readonly input: BlobInput;
}

export interface BlobRoom extends BlobIntake {
  /** Resolves when every blob whose run is known lies in its place. */
  settled(): Promise<void>;
}

export async function createBlobRoom(
  collector: Collector,
  blobs: BlobStore,
  limits: { readonly bytesMax: number },
  onTrouble: (cause: unknown) => void,
): Promise<BlobRoom> {
  const room = new Room(collector, blobs, limits.bytesMax, onTrouble);
  await room.restore();
  collector.onApplied(({ input }) => {
    if (input.kind === "cirron_batch") room.look();
  });
  return room;
}

class Room implements BlobRoom {
  private readonly collector: Collector;
  private readonly blobs: BlobStore;
  private readonly bytesMax: number;
  private readonly onTrouble: (cause: unknown) => void;
  private readonly waiting = new Map<string, WaitingBlob>();
  private moving: Promise<void> = Promise.resolve();

  constructor(collector: Collector, blobs: BlobStore, bytesMax: number, onTrouble: (cause: unknown) => void) {
    this.collector = collector;
    this.blobs = blobs;
    this.bytesMax = bytesMax;
    this.onTrouble = onTrouble;
  }

  async restore(): Promise<void> {
    await this.collector.drained();
    const rows = await readStateRows<Record<string, string>>(this.collector.store, "blobs");
    for (const row of rows) {
      const objectKey = row["object_key"] as string;
      if (objectKey.startsWith(waitingPrefix)) this.wait(fromRow(row));
    }
    this.look();
  }

  settled(): Promise<void> {
    return this.moving;
  }

  async putBlob(put: BlobPut): Promise<BlobStored | BlobRefused | Busy> {
    const match = keyPattern.exec(put.key);
    if (match === null) return refuseKey(put.key);
    const [, spanId, kind, ext] = match as unknown as [string, string, string, string];
    const run = put.runOverride ?? runOfSpan(this.collector.applier, put.workspace, spanId);
    const place = { workspace: put.workspace, span: spanId, snapshot: kind, ext };
    const objectKey = run === undefined ? waitingKey(place) : tensorKey({ ...place, run });
    const location = `/v1/traces/blobs/${put.key.split("/").map(encodeURIComponent).join("/")}`;
    return this.take(put, spanId, kind, objectKey, location);
  }

  async putArtifact(put: BlobPut): Promise<BlobStored | BlobRefused | Busy> {
    const run = put.runOverride as string;
    const path = `/api/v1/runs/${encodeURIComponent(run)}/artifacts/${encodeURIComponent(put.key)}`;
    return this.take(put, run, `artifact:${put.key}`, artifactKey(put.workspace, run, put.key), path);
  }

  /** Blobs whose run has become known are moved, one after the other, while intake goes on. */
  look(): void {
    for (const [key, blob] of this.waiting) {
      const run = runOfSpan(this.collector.applier, blob.workspace, blob.spanId);
      if (run === undefined) continue;
      this.waiting.delete(key);
      this.moving = this.moving.then(() => this.move(blob, run)).catch(this.onTrouble);
    }
  }

  private async take(
    put: BlobPut,
    spanId: string,
    kind: string,
    objectKey: string,
    location: string,
  ): Promise<BlobStored | Busy> {
    const { contentType } = put;
    const stored = await this.blobs.put(objectKey, put.body, { bytesMax: this.bytesMax, contentType });
    const input = toInput(put, spanId, kind, objectKey, stored);
    const submitted = this.collector.submit(input);
    if (typeof submitted === "string") return { busy: true, retryAfterS: 5 };
    await submitted.applied;
    if (objectKey.startsWith(waitingPrefix)) {
      this.wait({ workspace: put.workspace, spanId, kind, ext: objectKey.split(".").at(-1) as string, input });
      this.look();
    }
    return { location, sizeBytes: stored.size, sha256: stored.sha256 };
  }

  private wait(blob: WaitingBlob): void {
    this.waiting.set(`${blob.workspace}\0${blob.spanId}\0${blob.kind}`, blob);
  }

  private async move(blob: WaitingBlob, run: string): Promise<void> {
    const { workspace, spanId: span, kind: snapshot, ext, input } = blob;
    const objectKey = tensorKey({ workspace, run, span, snapshot, ext });
    await this.blobs.move(input.objectKey, objectKey);
    const submitted = this.collector.submit({ ...input, objectKey, receivedNs: input.receivedNs + 1n });
    if (typeof submitted === "string") throw new Error("The journal has no room for a moved blob.");
    await submitted.durable;
  }
}

/** The run of a span that has arrived or that other rows name. */
function runOfSpan(applier: ProtocolApplier, workspace: string, spanId: string): string | undefined {
  return applier.cirronOf(workspace).runOfSpan(spanId);
}

function toInput(put: BlobPut, spanId: string, blobKind: string, objectKey: string, stored: Stored): BlobInput {
  return {
    kind: "blob",
    workspace: put.workspace,
    transport: "http",
    source: put.source,
    runOverride: put.runOverride,
    imported: false,
    receivedNs: put.receivedNs,
    spanId,
    blobKind,
    objectKey,
    size: stored.size,
    sha256: stored.sha256,
    contentType: put.contentType,
    body: new Uint8Array(0),
  };
}

function fromRow(row: Record<string, string>): WaitingBlob {
  const text = (name: string): string => row[name] as string;
  const input: BlobInput = {
    kind: "blob",
    workspace: text("workspace"),
    transport: "http",
    source: "",
    runOverride: null,
    imported: false,
    receivedNs: BigInt(text("version")),
    spanId: text("span_id"),
    blobKind: text("kind"),
    objectKey: text("object_key"),
    size: Number(text("size")),
    sha256: text("sha256"),
    contentType: text("content_type"),
    body: new Uint8Array(0),
  };
  const { workspace, spanId, blobKind: kind, objectKey } = input;
  return { workspace, spanId, kind, ext: objectKey.split(".").at(-1) as string, input };
}

function refuseKey(key: string): BlobRefused {
  const message = `A blob's key is snapshots/<span id>/<weights|gradients>.safetensors, not ${JSON.stringify(key)}.`;
  return { refused: true, code: "blob_key_invalid", message };
}
