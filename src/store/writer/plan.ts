// A plan: the blocks that a range of journal records became, as they will be sent. It is made durable before
// the first block leaves, and sent again byte for byte after a crash, so that every block reaches the store
// exactly once whatever happens in between: its token makes a second INSERT of it harmless.
//
// Byte layout: u32 little-endian length of the head · head, JSON in UTF-8 · the blocks, back to back.

import type { StateTable } from "#model/state-tables.ts";
import type { FactTable } from "#model/tables.ts";

export interface PlannedBlock {
  readonly table: FactTable | StateTable;
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

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder();

/** The parts of the file, to be written one after the other; the blocks are not copied. */
export function encodePlan(plan: Plan): Uint8Array[] {
  const blocks = plan.blocks.map(({ bytes, ...block }) => ({ ...block, size: bytes.length }));
  const head = textEncoder.encode(JSON.stringify({ from: plan.from, to: plan.to, blocks }));
  const size = new Uint8Array(4);
  new DataView(size.buffer).setUint32(0, head.length, true);
  return [size, head, ...plan.blocks.map((block) => block.bytes)];
}

export function decodePlan(bytes: Uint8Array): Plan {
  const headLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const head = JSON.parse(textDecoder.decode(bytes.subarray(4, 4 + headLength))) as {
    from: number;
    to: number;
    blocks: (Omit<PlannedBlock, "bytes"> & { size: number })[];
  };
  let at = 4 + headLength;
  const blocks = head.blocks.map(({ size, ...block }) => {
    const part = bytes.subarray(at, at + size);
    at += size;
    return { ...block, bytes: part };
  });
  return { from: head.from, to: head.to, blocks };
}
