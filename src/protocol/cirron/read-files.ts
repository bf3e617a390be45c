// Spools, blobs and captured output → requests.

import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { LineReader } from "#protocol/reading/line-reader.ts";
import { OnceReader } from "#protocol/reading/reader.ts";
import { findSentinels } from "#wire/cirron/sentinel.ts";
import { parseSpoolName } from "#wire/cirron/spool-name.ts";

export class BatchReader extends OnceReader {
  protected async send(): Promise<void> {
    const { path, source } = this.file;
    const bytes = await readFile(path);
    const named = parseSpoolName(basename(path));
    if (named !== null) await this.options.pace.waitFor(named.createdNs);
    await this.options.sender.send({ route: "cirron", file: path, source }, bytes);
  }
}

export class BlobReader extends OnceReader {
  protected async send(): Promise<void> {
    const { path, source } = this.file;
    // As the SDK itself would name it.
    const key = `snapshots/${basename(dirname(path))}/${basename(path)}`;
    await this.options.sender.sendBlob(path, key, source, () => createReadStream(path));
  }
}

/** Output that someone captured, with Cirron's sentinels in it. */
export class SentinelReader extends LineReader {
  protected async take(lines: Buffer): Promise<void> {
    const { path, source } = this.file;
    for (const sentinel of findSentinels(lines)) {
      if (sentinel.kind === "trace_batch")
        await this.options.sender.send({ route: "cirron", file: path, source }, sentinel.batch);
    }
  }
}
