// A plan: the blocks that a range of journal records became, as they will be sent. It is made durable before
// the first block leaves, and sent again byte for byte after a crash, so that every block reaches the store
// exactly once whatever happens in between: its token makes a second INSERT of it harmless.
//
// Byte layout: u32 little-endian length of the head · head, JSON in UTF-8 · the small blocks, back to back.
// A large block has a file of its own, which the embedded engine reads itself; the head holds its checksum.

import { crc32 } from "node:zlib";
import { inTurns } from "#base/turns.ts";
import type { StateTable } from "#model/state-tables.ts";
import type { FactTable } from "#model/tables.ts";

export interface PlannedBlock {
  readonly table: FactTable | StateTable;
  /** The number of the block, from 0, if a table has more rows than one block takes. */
  readonly part?: number;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly token: string;
  readonly bytes: Uint8Array;
}

export interface Plan {
  /** Journal records in this plan: from (inclusive) to (inclusive). */
  readonly from: number;
  readonly to: number;
  readonly blocks: readonly PlannedBlock[];
}

/** What the outbox keeps. */
export interface EncodedPlan {
  /** The plan's own file, its parts one after the other. */
  readonly parts: readonly Uint8Array[];
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
}

/** A smaller block is cheaper to send than to write and sync as a file. */
const fileBytesMin = 256 * 1024;

const crcStepBytes = 1024 * 1024;

/** The name of a block, unique within its plan. */
export function nameOf({ table, part = 0 }: Pick<PlannedBlock, "table" | "part">): string {
  return part === 0 ? table : `${table}_${part}`;
}

/** The name of a block's own file, null for a small block. */
export function fileNameOf(block: PlannedBlock): string | null {
  return block.bytes.length < fileBytesMin ? null : nameOf(block);
}

interface BlockHead extends Omit<PlannedBlock, "bytes"> {
  readonly size: number;
  /** Set for a block with a file of its own. */
  readonly file?: { readonly name: string; readonly crc: number };
}

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder();

/** The blocks are not copied. */
export async function encodePlan(plan: Plan): Promise<EncodedPlan> {
  const files: { name: string; bytes: Uint8Array }[] = [];
  const small: Uint8Array[] = [];
  const blocks: BlockHead[] = [];
  for (const planned of plan.blocks) {
    const { bytes, ...block } = planned;
    const name = fileNameOf(planned);
    if (name === null) {
      small.push(bytes);
      blocks.push({ ...block, size: bytes.length });
    } else {
      files.push({ name, bytes });
      blocks.push({ ...block, size: bytes.length, file: { name, crc: await inTurns(crcSteps(bytes)) } });
    }
  }
  const head = textEncoder.encode(JSON.stringify({ from: plan.from, to: plan.to, blocks }));
  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, head.length, true);
  return { parts: [size, head, ...small], files };
}

function* crcSteps(bytes: Uint8Array): Generator<void, number> {
  let crc = 0;
  for (let at = 0; at < bytes.length; at += crcStepBytes) {
    crc = crc32(bytes.subarray(at, at + crcStepBytes), crc);
    yield;
  }
  return crc;
}

/** Null when a file is missing or damaged. */
export async function decodePlan(
  bytes: Uint8Array,
  readFile: (name: string) => Promise<Uint8Array | undefined>,
): Promise<Plan | null> {
  const headLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(textDecoder.decode(bytes.subarray(4, 4 + headLength))) as {
    from: number;
    to: number;
    blocks: BlockHead[];
  };
  let at = 4 + headLength;
  const blocks: PlannedBlock[] = [];
  for (const { size, file, ...block } of head.blocks) {
    if (file === undefined) {
      blocks.push({ ...block, bytes: bytes.subarray(at, at + size) });
      at += size;
      continue;
    }
    const own = await readFile(file.name);
    if (own === undefined || own.length !== size || crc32(own) !== file.crc) return null;
    blocks.push({ ...block, bytes: own });
  }
  return { from: head.from, to: head.to, blocks };
}
