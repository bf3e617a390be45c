// The narrow interfaces through which XTrack connections reach the rest of the program.

import type { Caller } from "#api/handler.ts";
import type { Control, WorkerAck } from "#control/control.ts";
import type { Decoded } from "#intake/input-kind.ts";
import type { Submitted } from "#intake/sequencer.ts";
import type { XtrackFramesInput } from "#intake/xtrack/frames-input.ts";
import type { RunId, WorkerId, Workspace } from "#model/names.ts";
import type { UnfinishedBytes } from "#server/unfinished-bytes.ts";

export type Transport = "tcp" | "unix" | "ws";

/** Where a stream of frames comes from. */
export interface StreamOrigin {
  readonly transport: Transport;
  /** The peer's address, for people. */
  readonly peer: string;
  readonly workspace: Workspace;
  readonly source: string;
  readonly runOverride: string | null;
  /** Nothing is kept: its frames come by another way too, and say here only whose commands it takes. */
  readonly isHeardOnly?: boolean;
}

/** What became of one event. Ids are those that the worker uses itself. */
export interface EventOutcome {
  readonly runId: RunId;
  /** '' when the worker has no id. */
  readonly wid: WorkerId;
  readonly seq: number | bigint;
  /** Why the event was refused; null when it is durable. */
  readonly error: string | null;
}

/** How a stream tells what it found: some time after the bytes were pushed, in their order. */
export interface StreamEvents {
  /** The worker is ready to read: by `accepts` in its run_start, or by sending an ack or a command itself. */
  onAsk(what: "ack" | "command"): void;
  /** A worker of this run speaks here; once for each pair. `runId` is the id under which the run is kept. */
  onWorker(runId: RunId, wid: WorkerId): void;
  /** After a commit, and only while `reports` is on: its events, in order. */
  onOutcomes(outcomes: readonly EventOutcome[]): void;
  /** An answer to a command that names no run, on a connection where none has begun. */
  onAck(ack: WorkerAck): void;
  /** `pendingBytes` has shrunk. */
  onRoom(): void;
  /** All frames that are arriving take more than there is for them, and this one is among the large ones. */
  onNoRoom(): void;
  /** Nothing need be read until `onWake`; says whether it is not. */
  onRest(): boolean;
  /** What came meanwhile is to be read, in one go. */
  onWake(): void;
  /** That has been read, and is to be pushed. */
  onCollect(): void;
  /** Whatever comes is to be read again, as it comes. */
  onRise(): void;
}

export type StreamEnd = "eof" | "reset" | "shutdown";

export type Admission = Pick<Caller, "workspace" | "source">;

export interface Gate {
  /** Who this is, by its key ('' for none) and the way it came; null for someone who may not send. */
  admit(key: string, address: string, transport: Transport): Admission | null;
}

/** The part of control that connections use. */
export type CommandDesk = Pick<Control, "attach" | "hearAck">;

export interface IntakeSinkOptions {
  submit(input: XtrackFramesInput, decoded?: Decoded): Submitted;
  /** Whether a record of so many bytes finds room, besides what is kept for those who send little. */
  hasRoom(bytes: number): boolean;
  nowNs(): bigint;
  /** The run under which a run's records are kept, by the id that its worker uses. */
  runOf(workspace: Workspace, runId: RunId): string;
  /** Somebody looks at the run, by the id that its worker uses, while it goes on. */
  isFollowed(workspace: Workspace, runId: RunId): boolean;
  readonly frameBytesMax: number;
  /** Counts the bytes of frames that are not whole yet, with those of everybody else. */
  readonly unfinished: UnfinishedBytes;
  /** How many bytes of all streams may wait, to be decoded or for the disk, before workers are left unread. */
  readonly gatheredBytesMax: number;
  /** How many bytes of all streams may wait because the journal had no room for them. */
  readonly heldBytesMax: number;
}

export interface IntakeCounters {
  records: number;
  events: number;
  /** Events that were lost because there was no room. */
  lost: number;
  /** Waiting to be decoded. */
  gatheredBytes: number;
  /** On their way to the disk. */
  flyingBytes: number;
  /** Decoded, waiting for room in the journal. */
  heldBytes: number;
}
