// The files that Cirron leaves: a spool of batches, blobs of tensors beside it, and output with sentinel lines in it.

import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import {
  type Detection,
  type FileHead,
  type FileKind,
  readWhole,
  startsObject,
  sureness,
} from "#protocol/file-kind.ts";
import { LineReader } from "#protocol/reading/line-reader.ts";
import { OnceReader } from "#protocol/reading/reader.ts";
import { findSentinels } from "#wire/cirron/sentinel.ts";
import { isTemporaryName, parseSpoolName } from "#wire/cirron/spool-name.ts";
import { checkBatch, checkSentinels } from "./check.ts";

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

class BatchReader extends OnceReader {
  protected async send(): Promise<void> {
    const { path, source } = this.file;
    const bytes = await readFile(path);
    const named = parseSpoolName(basename(path));
    if (named !== null) await this.options.pace.waitFor(named.createdNs);
    await this.options.sender.send({ route: "cirron", file: path, source }, bytes);
  }
}

class BlobReader extends OnceReader {
  protected async send(): Promise<void> {
    const { path, source } = this.file;
    // As the SDK itself would name it.
    const key = `snapshots/${basename(dirname(path))}/${basename(path)}`;
    await this.options.sender.sendBlob(path, key, source, () => createReadStream(path));
  }
}

/** Output that someone captured, with Cirron's sentinels in it. */
class SentinelReader extends LineReader {
  protected async take(lines: Buffer): Promise<void> {
    const { path, source } = this.file;
    for (const sentinel of findSentinels(lines)) {
      if (sentinel.kind === "trace_batch")
        await this.options.sender.send({ route: "cirron", file: path, source }, sentinel.batch);
    }
  }
}
