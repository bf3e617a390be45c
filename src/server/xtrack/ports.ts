// The narrow interfaces through which XTrack connections reach the rest of the program.

import type { OutgoingCommand, WorkerAck, WorkerChannel } from "#control/control.ts";

export type Transport = "tcp" | "unix" | "ws";

/** Where a stream of frames comes from. */
export interface StreamOrigin {
  readonly transport: Transport;
  /** The peer's address, for people. */
  readonly peer: string;
  readonly workspace: string;
  readonly source: string;
  readonly runOverride: string | null;
  /** Nothing is kept: its frames come by another way too, and say here only whose commands it takes. */
  readonly isHeardOnly?: boolean;
}

/** What became of one event. Ids are those that the worker uses itself. */
export interface EventOutcome {
  readonly runId: string;
  /** '' when the worker has no id. */
  readonly wid: string;
  readonly seq: number | bigint;
  /** Why the event was refused; null when it is durable. */
  readonly error: string | null;
}

/** How a stream tells what it found: some time after the bytes were pushed, in their order. */
export interface StreamEvents {
  /** The worker is ready to read: by `accepts` in its run_start, or by sending an ack or a command itself. */
  onAsk(what: "ack" | "command"): void;
  /** A worker of this run speaks here; once for each pair. `runId` is the id under which the run is kept. */
  onWorker(runId: string, wid: string): void;
  /** After a commit, and only while `reports` is on: its events, in order. */
  onOutcomes(outcomes: readonly EventOutcome[]): void;
  /** An answer to a command that names no run, on a connection where none has begun. */
  onAck(ack: WorkerAck): void;
  /** `pendingBytes` has shrunk. */
  onRoom(): void;
  /** All frames that are arriving take more than there is for them, and this one is among the large ones. */
  onNoRoom(): void;
}

export interface XtrackStream {
  /** The stream owns the chunk. It never refuses one: what cannot be kept it counts. */
  push(chunk: Uint8Array): void;
  /** Whole frames found so far. */
  readonly frames: number;
  /** Bytes that came and are not durable yet, but for a frame that is not whole. */
  readonly pendingBytes: number;
  /** Tell the outcome of each event, that of the frame in hand included. */
  reports: boolean;
  /** The peer waits for us when there is no room, so its bytes are held and never dropped. */
  isPatient: boolean;
  /** Resolves when everything is durable or given up, after the last outcomes. */
  end(how: StreamEnd): Promise<void>;
}

export type StreamEnd = "eof" | "reset" | "shutdown";

export interface XtrackSink {
  openStream(origin: StreamOrigin, events: StreamEvents): XtrackStream;
  /** There is so much waiting that peers who can wait should. */
  isCrowded(): boolean;
}

export interface Admission {
  readonly workspace: string;
  readonly source: string;
}

export interface Gate {
  /** Who this is, by its key ('' for none) and the way it came; null for someone who may not send. */
  admit(key: string, address: string, transport: Transport): Admission | null;
}

/** The part of control that connections use. */
export interface CommandDesk {
  attach(workspace: string, runId: string, worker: string, channel: WorkerChannel): () => void;
  hearAck(workspace: string, ack: WorkerAck): void;
}

export type { OutgoingCommand, WorkerChannel };
