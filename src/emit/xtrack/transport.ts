// What a run needs from whatever carries its frames. A transport connects once; when it is gone, the link
// makes a new one.

export interface TransportEvents {
  /** Bytes may be written now. */
  onOpen(): void;
  /** There is room again after `write` said false. */
  onRoom(): void;
  onBytes(chunk: Uint8Array): void;
  /** Called once, also when it never opened; with a sentence when trying again will hardly help. */
  onClose(problem?: string): void;
}

export interface Transport {
  /** It takes bytes from the start and does not call `onOpen`. */
  readonly isReady: boolean;
  /** What the other side may send back; asked for in run_start. */
  readonly accepts: readonly ("ack" | "command")[];
  /** Takes whole frames in one piece. False: enough for now, wait for `onRoom`. Never throws. */
  write(frames: Uint8Array): boolean;
  /** Bytes that `write` took and that have not left yet. */
  readonly pendingBytes: number;
  /** Whether waiting for this transport keeps the process alive. Off at first. */
  hold(isHeld: boolean): void;
  /** The program handles commands. Only from now on may be read what could be the program's own input. */
  listen?(): void;
  /** Lets what was written leave, then closes. */
  end(): void;
  /** Closes now; what has not left is given up. */
  destroy(): void;
}

export type OpenTransport = (events: TransportEvents) => Transport;
