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
  /** Nothing is kept: the frames come another way too, and only say here whose commands the connection takes. */
  readonly isHeardOnly?: boolean;
}

/** What became of one event, with the ids that the worker uses itself. */
export interface EventOutcome {
  readonly runId: RunId;
  /** '' when the worker has no id. */
  readonly wid: WorkerId;
  readonly seq: number | bigint;
  /** Why the event was refused; null when it is durable. */
  readonly error: string | null;
}

/** How a stream reports what it found, some time after the bytes were pushed and in their order. */
export interface StreamEvents {
  /** The worker asked for acks or commands, by `accepts` in its run_start or by sending one itself. */
  onAsk(what: "ack" | "command"): void;
  /** A worker of this run speaks here; once for each pair. `runId` is the id under which the run is kept. */
  onWorker(runId: RunId, wid: WorkerId): void;
  /** The outcomes of events in order, after a commit and only while `reports` is on. */
  onOutcomes(outcomes: readonly EventOutcome[]): void;
  /** An answer to a command that names no run, on a connection where none has begun. */
  onAck(ack: WorkerAck): void;
  /** `pendingBytes` has shrunk. */
  onRoom(): void;
  /** All arriving frames together exceed their budget, and the frame of this stream is a large one. */
  onNoRoom(): void;
  /** The connection need not be read until `onWake`. Returns whether it stops reading. */
  onRest(): boolean;
  /** Read what came meanwhile, in one go. */
  onWake(): void;
  /** Push what was read. */
  onCollect(): void;
  /** Read again as bytes come. */
  onRise(): void;
}

export type StreamEnd = "eof" | "reset" | "shutdown";

export type Admission = Pick<Caller, "workspace" | "source">;

export interface Gate {
  /** Who this is, by key ('' for none) and the way it came; null if it may not send. */
  admit(key: string, address: string, transport: Transport): Admission | null;
}

/** The part of control that connections use. */
export type CommandDesk = Pick<Control, "attach" | "hearAck">;

export interface IntakeSinkOptions {
  submit(input: XtrackFramesInput, decoded?: Decoded): Submitted;
  /** Whether a record of this size finds room outside the reserve for quiet senders. */
  hasRoom(bytes: number): boolean;
  nowNs(): bigint;
  /** The run under which records are kept, by the run id that the worker uses. */
  runOf(workspace: Workspace, runId: RunId): string;
  /** Whether somebody watches the run live, by the run id that the worker uses. */
  isFollowed(workspace: Workspace, runId: RunId): boolean;
  readonly frameBytesMax: number;
  /** Counts the bytes of unfinished frames, together with everybody's. */
  readonly unfinished: UnfinishedBytes;
  /** How many bytes of all streams may wait to be decoded or for the disk before workers are no longer read. */
  readonly gatheredBytesMax: number;
  /** How many bytes of all streams may be held because the journal has no room. */
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
