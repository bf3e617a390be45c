// The narrow interfaces through which the HTTP server reaches the rest of the program. Each is small enough to be
// stood in for by a few lines, which is also how its own tests run it over real sockets.

import type { Readable } from "node:stream";
import type { WebSocket } from "ws";
import type { Scope } from "#api/contract/admin.ts";
import type { Caller } from "#api/handler.ts";
import type { ServerNs } from "#base/clock.ts";
import type { Receipt } from "#intake/sequencer.ts";
import type { TakenRequest } from "#protocol/protocol.ts";

/** There is no room; retry after this time. */
export interface Busy {
  readonly busy: true;
  readonly retryAfterS: number;
}

/** The load of intake, which decides who may send. */
export interface IntakeLoad {
  /**
   * Why a record of this size would find no room; null if it would. `isQuiet` may use the reserve for quiet senders.
   */
  roomFor(bytes: number, isQuiet: boolean): Busy | null;
  /** Bytes of bodies that were decoded and wait in memory for the disk, or to be applied. */
  backlogBytes(): number;
}

export interface Intake extends IntakeLoad {
  /**
   * Resolves when all of it is durable, or applied. `onSent` is called when all of it is on its way to the disk;
   * `onLetGo` when all of it was taken and nobody needs the bytes of its inputs any more: they are applied, or will be read
   * back from the journal.
   */
  submit(
    submissions: TakenRequest["submissions"],
    answerWhen: TakenRequest["answerWhen"],
    onSent?: () => void,
    onLetGo?: (() => void) | null,
  ): Promise<Receipt | Busy>;
  /** Resolves when everything up to this journal record can be queried. */
  queryable(position: number): Promise<void>;
}

export interface BlobPut {
  readonly workspace: string;
  readonly source: string;
  readonly runOverride: string | null;
  /** The client's own key, e.g. `snapshots/<span>/weights.safetensors`: text, never a path. */
  readonly key: string;
  readonly contentType: string;
  readonly receivedNs: ServerNs;
  /** Errors when the client goes away or sends more than is allowed; then nothing must be kept. */
  readonly body: Readable;
}

export interface BlobStored {
  /** The permanent address of the blob: a path on this server, or a URL. */
  readonly location: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface BlobIntake {
  /** Resolves when the bytes and the journal record that names them are durable. */
  putBlob(put: BlobPut): Promise<BlobStored | Busy>;
  putArtifact(put: BlobPut): Promise<BlobStored | Busy>;
}

export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly workspace: string;
  readonly scopes: readonly Scope[];
  readonly createdNs: bigint;
  readonly lastUsedNs: bigint | null;
  /** SHA-256 of the key, in hex. The key itself is kept nowhere. */
  readonly sha256: string;
}

export interface KeyStore {
  /** Keys that are not revoked, of all workspaces. */
  list(): readonly StoredKey[];
  /** Resolves when the change is durable. */
  add(key: StoredKey, author: string): Promise<void>;
  /** False when there is no such key. */
  revoke(id: string, author: string): Promise<boolean>;
  /** Called at most once a minute per key. */
  noteUse(id: string, atNs: bigint): void;
}

/**
 * What the address of a WebSocket says: `?run=…` names the run, whatever the frames say; with `?heard=1` no frames are
 * kept.
 */
export interface SocketAbout {
  readonly runOverride: string | null;
  readonly isHeardOnly: boolean;
}

export interface SocketIntake {
  /** Takes over an XTrack WebSocket after its Host, Origin, key and scope were checked. */
  accept(socket: WebSocket, caller: Caller, peer: string, about: SocketAbout): void;
}

export interface Readiness {
  /** Sentences about what keeps the server from working; empty when it is ready. */
  problems(): readonly string[];
  /** Sentences about what does not work although the server takes and answers requests. */
  degraded?(): readonly string[];
  /** Resolves when nothing that was accepted waits any more. */
  drained(): Promise<void>;
}

export function isBusy(answer: object): answer is Busy {
  return "busy" in answer;
}
