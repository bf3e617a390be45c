// Frames to a file, or to a descriptor that the parent process opened. Writing is synchronous: it works in a loop
// that never yields and while the process exits, and a frame is always whole.

import { closeSync, fstatSync, openSync, readlinkSync } from "node:fs";
import { Socket } from "node:net";
import { toReason } from "#emit/say.ts";
import { writeDescriptor } from "#emit/write-descriptor.ts";
import type { Transport, TransportEvents } from "./transport.ts";

export function openFile(path: string, events: TransportEvents): Transport {
  try {
    return new DescriptorTransport(openSync(path, "a"), path, [], events);
  } catch (error) {
    // The folder may be made later, so the link tries again.
    queueMicrotask(() => events.onClose(`cannot write ${path} (${toReason(error)})`));
    return new NullTransport(false, () => undefined);
  }
}

export function openStdio(fd: number | undefined, readsStdin: boolean, events: TransportEvents): Transport {
  const target = fd ?? (isGivenByParent(3) ? 3 : 1);
  const accepts = readsStdin ? (["command"] as const) : [];
  return new DescriptorTransport(target, null, accepts, events);
}

export function openNull(events: TransportEvents): Transport {
  return new NullTransport(true, () => events.onClose());
}

class NullTransport implements Transport {
  readonly isReady: boolean;
  readonly accepts = [];
  readonly pendingBytes = 0;
  private readonly onEnd: () => void;

  constructor(isReady: boolean, onEnd: () => void) {
    this.isReady = isReady;
    this.onEnd = onEnd;
  }

  write(): boolean {
    return true;
  }
  hold(): void {}
  end(): void {
    this.onEnd();
  }
  destroy(): void {}
}

class DescriptorTransport implements Transport {
  readonly isReady = true;
  readonly accepts: readonly "command"[];
  readonly pendingBytes = 0;
  private readonly fd: number;
  /** The path of a file that is ours to close. */
  private readonly path: string | null;
  private readonly events: TransportEvents;
  private isClosed = false;
  private isListening = false;

  constructor(fd: number, path: string | null, accepts: readonly "command"[], events: TransportEvents) {
    this.fd = fd;
    this.path = path;
    this.accepts = accepts;
    this.events = events;
  }

  write(frames: Uint8Array): boolean {
    const hasFailed = !this.isClosed && !writeDescriptor(this.fd, frames);
    if (hasFailed) this.close(`cannot write to ${this.path ?? `descriptor ${this.fd}`}`);
    return !this.isClosed;
  }

  hold(): void {}

  listen(): void {
    if (this.accepts.length === 0 || this.isListening) return;
    this.isListening = true;
    readCommands(this.fd, this.events);
  }

  end(): void {
    this.close();
  }

  destroy(): void {
    this.close();
  }

  private close(problem?: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.path !== null) closeSync(this.fd);
    queueMicrotask(() => this.events.onClose(problem));
  }
}

/**
 * Node opens descriptors of its own from 3 on. Only a pipe or socket at 3 was put there by the parent for us:
 * Node's own there is an event queue, and a file would be the user's.
 */
function isGivenByParent(fd: number): boolean {
  try {
    if (process.platform === "linux") return /^(pipe|socket):/.test(readlinkSync(`/proc/self/fd/${fd}`));
    return fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}

/** Commands come on standard input, or, once that has ended, back through the socket at descriptor 3. */
function readCommands(fd: number, events: TransportEvents): void {
  process.stdin.on("data", (chunk: Buffer) => events.onBytes(chunk));
  process.stdin.on("error", () => undefined);
  // Files have no unref, but they end.
  (process.stdin as { unref?: () => void }).unref?.();
  if (fd <= 2 || !isSocket(fd)) return;
  const socket = new Socket({ fd, readable: true, writable: false, allowHalfOpen: true });
  socket.on("data", (chunk: Buffer) => events.onBytes(chunk));
  socket.on("error", () => undefined);
  socket.unref();
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}
