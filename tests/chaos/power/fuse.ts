// As much of the kernel's FUSE protocol as one file needs that is itself the root of its mount: a loop device makes a disk of it.
// Requests and replies are little-endian structures of <linux/fuse.h>.

import type { CachedDisk } from "./cached-disk.ts";

const opcodes = {
  forget: 2,
  getattr: 3,
  setattr: 4,
  open: 14,
  read: 15,
  write: 16,
  statfs: 17,
  release: 18,
  fsync: 20,
  init: 26,
  interrupt: 36,
  batchForget: 42,
} as const;

const requestHeaderBytes = 40;
const replyHeaderBytes = 16;
const writeBytesMax = 1 << 20;
export const requestBytesMax = writeBytesMax + 4096;

/** Not what the kernel may ask of a file, here: it goes without. */
const notImplemented = -38;
const inputOutputError = -5;
/** A file that its owner reads and writes. */
export const mode = 0o100600;

/** Null where the kernel expects no reply. */
export function answer(disk: CachedDisk, request: Buffer): Buffer | null {
  const [opcode, unique] = [request.readUInt32LE(4), request.readBigUInt64LE(8)];
  if (opcode === opcodes.forget || opcode === opcodes.batchForget || opcode === opcodes.interrupt) return null;
  try {
    const body = answerTo(disk, opcode, request.subarray(requestHeaderBytes));
    return typeof body === "number" ? toReply(unique, body) : toReply(unique, 0, body);
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    return toReply(unique, inputOutputError);
  }
}

function toReply(unique: bigint, error: number, body: Uint8Array = new Uint8Array()): Buffer {
  const reply = Buffer.alloc(replyHeaderBytes + body.length);
  reply.writeUInt32LE(reply.length, 0);
  reply.writeInt32LE(error, 4);
  reply.writeBigUInt64LE(unique, 8);
  reply.set(body, replyHeaderBytes);
  return reply;
}

/** The body of a reply, or an error number. */
function answerTo(disk: CachedDisk, opcode: number, body: Buffer): Uint8Array | number {
  switch (opcode) {
    case opcodes.init:
      return toInit(body);
    case opcodes.getattr:
    case opcodes.setattr:
      return toAttributes(disk.sizeBytes);
    case opcodes.open:
      return Buffer.alloc(16);
    case opcodes.read:
      return disk.read(Number(body.readBigUInt64LE(8)), body.readUInt32LE(16));
    case opcodes.write: {
      const length = body.readUInt32LE(16);
      disk.write({ at: Number(body.readBigUInt64LE(8)), bytes: body.subarray(40, 40 + length) });
      const written = Buffer.alloc(8);
      written.writeUInt32LE(length, 0);
      return written;
    }
    case opcodes.fsync:
      disk.flush();
      return Buffer.alloc(0);
    case opcodes.release:
      return Buffer.alloc(0);
    case opcodes.statfs:
      return Buffer.alloc(80);
    default:
      return notImplemented;
  }
}

/** Version 7.31, writes of more than a page, and as many pages in a request as one write has. */
function toInit(body: Buffer): Buffer {
  const reply = Buffer.alloc(64);
  reply.writeUInt32LE(7, 0);
  reply.writeUInt32LE(31, 4);
  reply.writeUInt32LE(body.readUInt32LE(8), 8);
  reply.writeUInt32LE((1 << 5) | (1 << 22), 12);
  reply.writeUInt16LE(16, 16);
  reply.writeUInt16LE(12, 18);
  reply.writeUInt32LE(writeBytesMax, 20);
  reply.writeUInt32LE(1, 24);
  reply.writeUInt16LE(writeBytesMax / 4096, 28);
  return reply;
}

function toAttributes(sizeBytes: number): Buffer {
  const reply = Buffer.alloc(104);
  const attributesAt = 16;
  reply.writeBigUInt64LE(3600n, 0);
  reply.writeBigUInt64LE(1n, attributesAt);
  reply.writeBigUInt64LE(BigInt(sizeBytes), attributesAt + 8);
  reply.writeBigUInt64LE(BigInt(sizeBytes / 512), attributesAt + 16);
  reply.writeUInt32LE(mode, attributesAt + 60);
  reply.writeUInt32LE(1, attributesAt + 64);
  reply.writeUInt32LE(4096, attributesAt + 80);
  return reply;
}
