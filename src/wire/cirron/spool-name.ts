// The names of a spool, from the document:
//
//   .cirron/spool/<created_ns>-<batch_id>.json                20 digits, 32 lower-case hex digits
//   .cirron/snapshots/<span_id>/{weights,gradients}.safetensors
//
// Spool names sort by time as text. A batch is written as `….json.tmp` and renamed, so a `.json` is always whole and
// a `.tmp` is not finished. The same snapshots path, without `.cirron/`, is the key of a blob sent by HTTP.

export interface SpoolName {
  readonly createdNs: bigint;
  readonly batchId: string;
}

/** Nanoseconds since the epoch have at most this many digits for 64 bits. */
const spoolName = /^(\d{20})-([0-9a-f]{32})\.json$/;

/** `name` is the last part of a path; null when it is not the name of a batch in a spool. */
export function parseSpoolName(name: string): SpoolName | null {
  const [, createdNs, batchId] = spoolName.exec(name) ?? [];
  return createdNs === undefined || batchId === undefined ? null : { createdNs: BigInt(createdNs), batchId };
}

/** A file that is still being written. */
export function isTemporaryName(name: string): boolean {
  return name.endsWith(".tmp");
}
