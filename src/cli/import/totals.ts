// What an import has done so far.

import type { Static } from "typebox";
import type { BatchAccepted, StreamAccepted } from "#api/contract/ingest.ts";
import type { ReadFault } from "#protocol/reading/reader.ts";

export interface ImportTotals {
  files: number;
  batches: number;
  blobs: number;
  accepted: number;
  duplicates: number;
  bytes: number;
  faultCount: number;
  /** The first of them. */
  readonly faults: ReadFault[];
}

/** What the ingest routes say of a body; a batch has fewer words. */
type IngestAnswer = Partial<Static<typeof BatchAccepted> & Static<typeof StreamAccepted>>;

const faultsMax = 100;

export function createTotals(): ImportTotals {
  return { files: 0, batches: 0, blobs: 0, accepted: 0, duplicates: 0, bytes: 0, faultCount: 0, faults: [] };
}

export function noteFault(totals: ImportTotals, fault: ReadFault): void {
  totals.faultCount++;
  if (totals.faults.length < faultsMax) totals.faults.push(fault);
}

export function addAnswer(totals: ImportTotals, file: string, answer: unknown): void {
  const { batch_id, accepted = 0, duplicates = 0, faults = [] } = answer as IngestAnswer;
  if (batch_id !== undefined) totals.batches++;
  totals.accepted += accepted;
  totals.duplicates += duplicates;
  for (const fault of faults) noteFault(totals, { file, ...fault });
}
