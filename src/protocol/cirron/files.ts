// The files that Cirron leaves: a spool of batches, blobs of tensors beside it, and output with sentinel lines in it.

import { dirname, resolve } from "node:path";
import {
  type Detection,
  type FileHead,
  type FileKind,
  readWhole,
  startsObject,
  sureness,
} from "#protocol/file-kind.ts";
import { isTemporaryName, parseSpoolName } from "#wire/cirron/spool-name.ts";
import { checkBatch, checkSentinels } from "./check.ts";
import { BatchReader, BlobReader, SentinelReader } from "./read-files.ts";

/** A spool and its snapshots lie in one folder. */
const inSpool = {
  toSource(path: string): string {
    const parts = resolve(path).split("/");
    const at = parts.lastIndexOf(".cirron");
    return at > 0 ? parts.slice(0, at + 1).join("/") : dirname(resolve(path));
  },
};

/** A batch, as the spool has one file each. */
const batchFile: FileKind = {
  ...inSpool,
  name: "cirron_batch",
  read: (file, options) => new BatchReader(file, options),
  async *check(file, _options, tally) {
    yield* checkBatch(file.path, await readWhole(file), tally);
  },
};

/** Captured output with sentinel lines in it. */
const sentinelFile: FileKind = {
  ...inSpool,
  name: "cirron_events",
  read: (file, options) => new SentinelReader(file, options),
  check: (file, _options, tally) => checkSentinels(file.path, file.chunks(), tally),
};

/** Tensors that belong to a spool's snapshots. */
const blobFile: FileKind = {
  ...inSpool,
  name: "cirron_blob",
  isFirst: true,
  read: (file, options) => new BlobReader(file, options),
  check: null,
};

/** Still being written; whole under another name soon. */
const temporaryFile: FileKind = { name: "temporary", read: null, check: null };

export function detectCirron({ name, text }: FileHead): Detection | null {
  if (isTemporaryName(name)) return { kind: temporaryFile, sure: sureness.name };
  if (name.endsWith(".safetensors")) return { kind: blobFile, sure: sureness.name };
  if (parseSpoolName(name) !== null) return { kind: batchFile, sure: sureness.name };
  if (text.includes('"__cirron_event__"')) return { kind: sentinelFile, sure: sureness.mark };
  return startsObject(text) && /"batch_id"\s*:/.test(text) ? { kind: batchFile, sure: sureness.commonKey } : null;
}
