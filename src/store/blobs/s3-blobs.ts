// Blobs in an S3 bucket, or any store that speaks S3. The SDK is loaded when a bucket is opened, because it is large
// and most installations have none.
//
// A blob is first written to a local file, because its size must be known before it is sent, and a failed part is sent
// again from there. Small blobs go in one request, larger ones in parts. `If-None-Match` keeps the first content.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type * as S3 from "@aws-sdk/client-s3";
import { nodeFiles, readWhole } from "#base/files.ts";
import { BlobOutage, type BlobStore, type ByteRange, type PutOptions, type Stored } from "./blob-store.ts";
import { spool } from "./spool.ts";

export interface S3Options {
  readonly bucket: string;
  /** Put before every key; '' or a text that ends with `/`. */
  readonly prefix: string;
  /** '' for Amazon's own. */
  readonly endpoint: string;
  readonly region: string;
  /** '' for the usual sources of the SDK: environment, files, the machine's role. */
  readonly accessKey: string;
  readonly secretKey: string;
  readonly pathStyle: boolean;
  /** A local folder for blobs on their way. */
  readonly tmp: string;
  /** How long the bucket may be silent before a request is given up. */
  readonly silenceMs?: number;
  /**
   * The most that goes in one request, and the size of a part. Default 16 MiB; the minimum of S3 for a part is 5 MiB.
   */
  readonly partBytes?: number;
}

const partBytesDefault = 16 << 20;
/** The SDK asks three times in all. */
const silenceMsDefault = 10_000;
const connectMs = 5000;
/** S3 takes 10,000 parts. */
const partsMax = 9000;
/** The largest object that CopyObject takes. */
const copyBytesMax = 5 * 1024 ** 3;

export async function createS3Blobs(options: S3Options): Promise<BlobStore> {
  // Only the embedded engine makes this folder, and there may be no engine.
  await mkdir(options.tmp, { recursive: true, mode: 0o700 });
  const sdk = await import("@aws-sdk/client-s3");
  const { endpoint, accessKey, secretKey } = options;
  const client = new sdk.S3Client({
    region: options.region,
    forcePathStyle: options.pathStyle,
    requestHandler: { connectionTimeout: connectMs, socketTimeout: options.silenceMs ?? silenceMsDefault },
    ...(endpoint === "" ? {} : { endpoint }),
    ...(accessKey === "" ? {} : { credentials: { accessKeyId: accessKey, secretAccessKey: secretKey } }),
    // Many compatible stores do not know newer checksums; the signature covers each body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  return new S3Blobs(sdk, client, options);
}

class S3Blobs implements BlobStore {
  readonly kind = "s3";
  isAway = false;
  private readonly sdk: typeof S3;
  private readonly client: S3.S3Client;
  private readonly options: S3Options;
  private readonly partBytes: number;
  private serial = 0;

  constructor(sdk: typeof S3, client: S3.S3Client, options: S3Options) {
    this.sdk = sdk;
    this.client = client;
    this.options = options;
    this.partBytes = options.partBytes ?? partBytesDefault;
  }

  async put(key: string, source: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<Stored> {
    const target = this.target(key);
    const path = join(this.options.tmp, `blob-${process.pid}-${this.serial++}`);
    const { size, sha256 } = await spool(path, source, options.bytesMax ?? Number.POSITIVE_INFINITY);
    try {
      const head = { ...target, ContentType: options.contentType ?? "application/octet-stream" };
      const isSmall = size <= this.partBytes;
      const created = await (isSmall ? this.putWhole(path, size, head) : this.putParts(key, path, size, head));
      return { size, sha256, created };
    } finally {
      await rm(path, { force: true });
    }
  }

  async size(key: string): Promise<number | null> {
    try {
      return (await this.call(new this.sdk.HeadObjectCommand(this.target(key)))).ContentLength ?? null;
    } catch (error) {
      if (error instanceof BlobOutage && error.kind === "missing") return null;
      throw error;
    }
  }

  async *read(key: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
    if (range !== undefined && range.end <= range.start) return;
    const bytes = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end - 1}` };
    const { Body } = await this.call(new this.sdk.GetObjectCommand({ ...this.target(key), ...bytes }));
    try {
      yield* Body as unknown as AsyncIterable<Uint8Array>;
    } catch (cause) {
      throw new BlobOutage("unavailable", `cannot read ${key}`, cause);
    }
  }

  async move(from: string, to: string): Promise<void> {
    const size = await this.size(from);
    if ((await this.size(to)) === null) {
      if (size === null) throw new BlobOutage("missing", `there is no ${from}`);
      await this.copy(from, to, size);
    }
    if (size !== null) await this.call(new this.sdk.DeleteObjectCommand(this.target(from)));
  }

  async delete(key: string): Promise<void> {
    await this.call(new this.sdk.DeleteObjectCommand(this.target(key)));
  }

  async deletePrefix(prefix: string): Promise<number> {
    if (!prefix.endsWith("/")) throw new BlobOutage("refused", `a prefix ends with a slash: ${prefix}`);
    const { Bucket, Key } = this.target(prefix);
    let deleted = 0;
    for (;;) {
      // Deleting shifts the pages, so the first page is requested until it is empty.
      const page = await this.call(new this.sdk.ListObjectsV2Command({ Bucket, Prefix: Key }));
      const keys = (page.Contents ?? []).flatMap(({ Key: key }) => (key === undefined ? [] : [key]));
      if (keys.length === 0) return deleted;
      await Promise.all(keys.map((key) => this.call(new this.sdk.DeleteObjectCommand({ Bucket, Key: key }))));
      deleted += keys.length;
    }
  }

  async close(): Promise<void> {
    this.client.destroy();
  }

  private target(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.options.bucket, Key: `${this.options.prefix}${key}` };
  }

  private async putWhole(path: string, size: number, head: S3.PutObjectCommandInput): Promise<boolean> {
    const Body = await readPart(path, 0, size);
    return this.unlessTaken(this.call(new this.sdk.PutObjectCommand({ ...head, Body, IfNoneMatch: "*" })));
  }

  private async putParts(
    key: string,
    path: string,
    size: number,
    head: S3.CreateMultipartUploadCommandInput,
  ): Promise<boolean> {
    const target = { Bucket: head.Bucket, Key: head.Key };
    // Checked first, to avoid sending gigabytes only to hear that the name is taken.
    if ((await this.size(key)) !== null) return false;
    return this.inParts(head, size, this.partBytes, async (UploadId, PartNumber, { start, end }) => {
      const Body = await readPart(path, start, end);
      const part = { ...target, UploadId, PartNumber, Body };
      return (await this.call(new this.sdk.UploadPartCommand(part))).ETag;
    });
  }

  private async copy(from: string, to: string, size: number): Promise<void> {
    const source = this.target(from);
    const CopySource = `${source.Bucket}/${source.Key.split("/").map(encodeURIComponent).join("/")}`;
    const target = this.target(to);
    if (size <= copyBytesMax) {
      await this.call(new this.sdk.CopyObjectCommand({ ...target, CopySource }));
      return;
    }
    await this.inParts(target, size, copyBytesMax / 5, async (UploadId, PartNumber, { start, end }) => {
      const CopySourceRange = `bytes=${start}-${end - 1}`;
      const part = { ...target, UploadId, PartNumber, CopySource, CopySourceRange };
      return (await this.call(new this.sdk.UploadPartCopyCommand(part))).CopyPartResult?.ETag;
    });
  }

  /** Sends an object part by part; false if its name was taken meanwhile. If it fails, the parts are removed. */
  private async inParts(
    head: S3.CreateMultipartUploadCommandInput,
    size: number,
    partBytesWanted: number,
    send: (uploadId: string, part: number, range: ByteRange) => Promise<string | undefined>,
  ): Promise<boolean> {
    const target = { Bucket: head.Bucket, Key: head.Key };
    const { UploadId = "" } = await this.call(new this.sdk.CreateMultipartUploadCommand(head));
    try {
      const partBytes = Math.max(partBytesWanted, Math.ceil(size / partsMax));
      const Parts: S3.CompletedPart[] = [];
      for (let start = 0; start < size; start += partBytes) {
        const PartNumber = Parts.length + 1;
        const ETag = await send(UploadId, PartNumber, { start, end: Math.min(size, start + partBytes) });
        Parts.push({ PartNumber, ETag });
      }
      const whole = { ...target, UploadId, MultipartUpload: { Parts }, IfNoneMatch: "*" };
      return await this.unlessTaken(this.call(new this.sdk.CompleteMultipartUploadCommand(whole)));
    } catch (error) {
      await this.call(new this.sdk.AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => {});
      throw error;
    }
  }

  private async unlessTaken(call: Promise<unknown>): Promise<boolean> {
    try {
      await call;
      return true;
    } catch (error) {
      if (error instanceof BlobOutage && statusOf(error.cause) === 412) return false;
      throw error;
    }
  }

  /** The SDK repeats what may be repeated; what still fails is classified by its status. */
  private async call<I extends S3.ServiceInputTypes, O extends S3.ServiceOutputTypes>(
    command: Parameters<typeof this.client.send<I, O>>[0],
  ): Promise<O> {
    try {
      const answer = await this.client.send<I, O>(command);
      this.isAway = false;
      return answer;
    } catch (cause) {
      const status = statusOf(cause);
      this.isAway = status === 0 || status >= 500;
      const kind =
        status === 404 ? "missing" : status >= 400 && status < 500 && status !== 429 ? "refused" : "unavailable";
      throw new BlobOutage(kind, `the blob store failed: ${(cause as Error).message}`, cause);
    }
  }
}

function statusOf(error: unknown): number {
  return (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode ?? 0;
}

async function readPart(path: string, start: number, end: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - start);
  const file = await nodeFiles.open(path, "read");
  try {
    if ((await readWhole(file, bytes, start)) < bytes.length) throw new Error("a blob on its way became shorter");
  } finally {
    await file.close();
  }
  return bytes;
}
