// A blob is streamed to the blob store, then named in the journal, then answered. The SDK sends the file of a span
// before the batch with the span, so the run may be unknown yet: the blob then waits under its workspace, moves to its
// documented place once the run is known, and never moves again.

import { createHash } from "node:crypto";
import { Refusal } from "#api/refusal.ts";
import type { BlobInput } from "#intake/blob.ts";
import { type Arrival, ownArrival } from "#intake/input.ts";
import type { RefusedInput } from "#intake/refused.ts";
import type { StateRow } from "#model/state-tables.ts";
import { protocolOfKind } from "#protocol/protocols.ts";
import type { BlobIntake, BlobPut, BlobStored, Busy } from "#server/http/ports.ts";
import { BlobOutage, type BlobStore, type Stored } from "#store/blobs/blob-store.ts";
import { artifactKey, tensorKey, waitingKey } from "#store/blobs/object-key.ts";
import { readBlobKey } from "#store/reader/blobs.ts";
import { readStateRows } from "#store/reader/state-rows.ts";
import type { Collector } from "./collector.ts";
import { findRunOfSpan, findRunsOfSpans, liveRunOfSpan } from "./run-of-span.ts";
import { submitOwn } from "./submit.ts";

const keyPattern = /^snapshots\/([^/]+)\/([^/]+)\.([A-Za-z0-9]+)$/;
const waitingPrefix = "waiting/";
/** How much of a second content under the same name is kept in the fault; the content itself is not stored. */
const headBytesMax = 64 * 1024;
const busy: Busy = { busy: true, retryAfterS: 5 };

/** Identifies a blob, whatever its content and its place. */
type BlobName = Pick<BlobInput, "workspace" | "spanId" | "blobKind">;

export async function createBlobRoom(collector: Collector, bytesMax: number): Promise<BlobRoom> {
  const room = new BlobRoom(collector, bytesMax);
  await collector.onceJoined(() => room.restore());
  collector.onApplied(({ applied }) => {
    // A waiting blob moves when its span arrives.
    if (applied.parts.some(({ table }) => table === "spans")) room.look();
  });
  return room;
}

export class BlobRoom implements BlobIntake {
  private readonly collector: Collector;
  private readonly blobs: BlobStore;
  private readonly bytesMax: number;
  private readonly waiting = new Map<string, BlobInput>();
  /** Object keys of blobs that the store does not know yet. */
  private readonly recent = new Map<string, string>();
  private moving: Promise<void> = Promise.resolve();

  constructor(collector: Collector, bytesMax: number) {
    this.collector = collector;
    this.blobs = collector.blobs;
    this.bytesMax = bytesMax;
  }

  async restore(): Promise<void> {
    await this.collector.sequencer.drained();
    const unstored = this.collector.unstored.of("blobs");
    const which = "WHERE startsWith(object_key, {prefix:String})";
    const rows = await readStateRows(this.collector.store, "blobs", which, { prefix: waitingPrefix });
    for (const row of rows) this.wait(fromRow(row));
    for (const { position, row } of unstored) this.takeUp(fromRow(row), position);
    // Some wait forever for spans that never arrive, so all of them are looked up with two questions.
    const waiting = [...this.waiting.values()];
    const runs = await findRunsOfSpans(this.collector, waiting);
    for (const [at, blob] of waiting.entries()) {
      const run = runs[at];
      if (run !== undefined) this.moveLater(blob, run);
    }
  }

  /** A row that the journal held at the start and that may not be stored yet. */
  private takeUp(blob: BlobInput, position: number): void {
    this.remember(blob, position);
    if (blob.objectKey.startsWith(waitingPrefix)) this.wait(blob);
    else this.waiting.delete(nameOf(blob));
  }

  /** Resolves when every blob whose run is known is in its place. */
  settled(): Promise<void> {
    return this.moving;
  }

  async putBlob(put: BlobPut): Promise<BlobStored | Busy> {
    const match = keyPattern.exec(put.key);
    if (match === null) throw refuseKey(put.key);
    const [, spanId, blobKind, ext] = match as unknown as [string, string, string, string];
    const { workspace } = put;
    const name = { workspace, spanId, blobKind };
    const known = await this.keyOf(name);
    const run = put.runOverride ?? (await findRunOfSpan(this.collector, name));
    const place = { workspace, span: spanId, snapshot: blobKind, ext };
    const objectKey = known ?? (run === undefined ? waitingKey(place) : tensorKey({ ...place, run }));
    const location = `/v1/traces/blobs/${put.key.split("/").map(encodeURIComponent).join("/")}`;
    return this.take(put, name, objectKey, location);
  }

  async putArtifact(put: BlobPut): Promise<BlobStored | Busy> {
    const { workspace, key } = put;
    const run = put.runOverride as string;
    const path = `/api/v1/runs/${encodeURIComponent(run)}/artifacts/${encodeURIComponent(key)}`;
    const name = { workspace, spanId: run, blobKind: `artifact:${key}` };
    return this.take(put, name, artifactKey(workspace, run, key), path);
  }

  /** Moves the blobs whose run has become known. */
  look(): void {
    for (const blob of this.waiting.values()) {
      const run = liveRunOfSpan(this.collector, blob.workspace, blob.spanId);
      if (run !== undefined) this.moveLater(blob, run);
    }
  }

  private moveLater(blob: BlobInput, run: string): void {
    this.waiting.delete(nameOf(blob));
    this.moving = this.moving
      .then(() => this.move(blob, run))
      .catch((cause) => {
        this.wait(blob);
        this.collector.tell("A blob could not be moved to its run; it is tried again with the next spans.", cause);
      });
  }

  /** A client that finds its run being deleted sends the file again. */
  private async take(put: BlobPut, name: BlobName, at: string, location: string): Promise<BlobStored | Busy> {
    const { removals } = this.collector;
    const file = removals.take(at);
    if (file === null) return busy;
    try {
      const taken = await this.store(put, name, at);
      return taken === null || file.isMet ? busy : { location, sizeBytes: taken.size, sha256: taken.sha256 };
    } finally {
      removals.leave(file);
    }
  }

  /** Null when there is no room. */
  private async store(put: BlobPut, name: BlobName, at: string): Promise<Pick<Stored, "size" | "sha256"> | null> {
    const { contentType } = put;
    const head: Uint8Array[] = [];
    const sent = await this.blobs.put(at, keepHead(put.body, head), { bytesMax: this.bytesMax, contentType });
    const { stored, objectKey } = sent.created ? { stored: sent, objectKey: at } : await this.find(name, at);
    const input = toInput(put, name, objectKey, stored);
    const submitted = this.collector.submit(input);
    if (typeof submitted === "string") return null;
    const { position } = await submitted.applied;
    this.remember(input, position);
    if (stored.sha256 !== sent.sha256) {
      const told = this.collector.submit(toConflict(put, sent, stored, Buffer.concat(head)));
      if (typeof told === "string") return null;
      await told.durable;
    }
    if (objectKey.startsWith(waitingPrefix)) {
      this.wait(input);
      this.look();
    }
    return stored;
  }

  /** The key that the blob was first stored under. It stays the same when the run is renamed. */
  private async keyOf(name: BlobName): Promise<string | undefined> {
    const fresh = this.recent.get(nameOf(name));
    if (fresh !== undefined) return fresh;
    const { store } = this.collector;
    try {
      return (await readBlobKey(store, name.workspace, [name.spanId], name.blobKind)) ?? undefined;
    } catch {
      // While the store is away, files are still accepted; one that is sent again may be stored twice.
      return undefined;
    }
  }

  /** Remembers the key of a blob until the store has it. */
  private remember(blob: BlobInput, position: number): void {
    const { objectKey } = blob;
    const name = nameOf(blob);
    this.recent.set(name, objectKey);
    const forget = () => {
      if (this.recent.get(name) === objectKey) this.recent.delete(name);
    };
    this.collector.queryable(position).then(forget, forget);
  }

  private async digest(objectKey: string): Promise<Omit<Stored, "created">> {
    const hash = createHash("sha256");
    let size = 0;
    for await (const chunk of this.blobs.read(objectKey)) {
      hash.update(chunk);
      size += chunk.length;
    }
    return { size, sha256: hash.digest("hex") };
  }

  /**
   * Of two overlapping uploads, the row of the later one counts, whichever ended last; the row of the moved blob must
   * be based on it.
   */
  private wait(blob: BlobInput): void {
    const known = this.waiting.get(nameOf(blob));
    const isOlder = known !== undefined && known.receivedNs > blob.receivedNs;
    this.waiting.set(nameOf(blob), isOlder ? known : blob);
  }

  /** What is stored under a taken key, or under the key that the blob was moved to meanwhile. */
  private async find(name: BlobName, at: string) {
    try {
      return { stored: await this.digest(at), objectKey: at };
    } catch (cause) {
      if (!(cause instanceof BlobOutage) || cause.kind !== "missing") throw cause;
      await this.moving;
      const objectKey = await this.movedKeyOf(name, at);
      if (objectKey === undefined) throw cause;
      return { stored: await this.digest(objectKey), objectKey };
    }
  }

  private async movedKeyOf(name: BlobName, at: string): Promise<string | undefined> {
    const known = await this.keyOf(name);
    if (known !== undefined && known !== at) return known;
    // Another upload that overlapped the move has recorded the old place since.
    const run = liveRunOfSpan(this.collector, name.workspace, name.spanId);
    return run === undefined ? undefined : toTensorKey(name, run, at);
  }

  private async move(blob: BlobInput, run: string): Promise<void> {
    const objectKey = toTensorKey(blob, run, blob.objectKey);
    await this.blobs.move(blob.objectKey, objectKey);
    const moved: BlobInput = { ...blob, objectKey, receivedNs: blob.receivedNs + 1n };
    this.remember(moved, await submitOwn(this.collector.sequencer, moved).durable);
  }
}

function nameOf({ workspace, spanId, blobKind }: BlobName): string {
  return `${workspace}\0${spanId}\0${blobKind}`;
}

/** The key of a tensor in its run; `before` is its old key, which has the extension. */
function toTensorKey({ workspace, spanId: span, blobKind: snapshot }: BlobName, run: string, before: string): string {
  return tensorKey({ workspace, run, span, snapshot, ext: before.split(".").at(-1) as string });
}

/** Passes a body on and keeps its first bytes, in case its key is known with another content. */
async function* keepHead(body: BlobPut["body"], head: Uint8Array[]): AsyncGenerator<Uint8Array> {
  let kept = 0;
  for await (const chunk of body) {
    if (kept < headBytesMax) {
      const part = Uint8Array.prototype.slice.call(chunk, 0, headBytesMax - kept);
      head.push(part);
      kept += part.length;
    }
    yield chunk;
  }
}

function toArrival({ workspace, source, runOverride, receivedNs }: BlobPut): Arrival {
  return { workspace, transport: "http", source, runOverride, imported: false, receivedNs };
}

/** As with every identity, the first content stays and the second becomes a fault. */
function toConflict(
  put: BlobPut,
  sent: Stored,
  stored: Pick<Stored, "size" | "sha256">,
  head: Uint8Array,
): RefusedInput {
  const name = (blob: Pick<Stored, "size" | "sha256">) => `${blob.size} bytes, SHA-256 ${blob.sha256}`;
  return {
    ...toArrival(put),
    kind: "refused",
    protocol: protocolOfKind("blob") ?? "",
    code: "identity_conflict",
    detail: `The file ${put.key} is known with other content: kept ${name(stored)}, received ${name(sent)}.`,
    place: JSON.stringify({ file: put.key }),
    body: head,
  };
}

function toInput(
  put: BlobPut,
  name: BlobName,
  objectKey: string,
  { size, sha256 }: Pick<Stored, "size" | "sha256">,
): BlobInput {
  const { contentType } = put;
  return { ...toArrival(put), ...name, kind: "blob", objectKey, size, sha256, contentType, body: new Uint8Array(0) };
}

function fromRow(row: StateRow<"blobs">): BlobInput {
  return {
    ...ownArrival(row.workspace),
    ...{ kind: "blob", receivedNs: row.version, spanId: row.span_id, blobKind: row.kind, objectKey: row.object_key },
    ...{ size: Number(row.size), sha256: row.sha256, contentType: row.content_type, body: new Uint8Array(0) },
  };
}

function refuseKey(key: string): Refusal {
  const form = "snapshots/<span id>/<name>.<extension>, its name weights, gradients or a snapshot's id";
  return new Refusal("blob_key_invalid", `A blob's key has the form ${form}; ${JSON.stringify(key)} does not.`, {
    at: { part: "path", name: key },
  });
}
