// Sends the spool to the server and remembers what has arrived: the batches of this process first, then
// whatever earlier processes left. A batch stays in the spool; only its name is noted in `sent.txt`.
// Before a batch is sent, its blobs are, and their new addresses are written into the spool file, so that
// what was posted and what is in the spool are always the same bytes.

import { appendFile, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { parseRetryAfterMs, toBackOffMs } from "#emit/back-off.ts";
import { say } from "#emit/say.ts";
import { exchange, type HttpAnswer } from "./http.ts";

export interface SenderOptions {
  readonly spoolPath: string;
  readonly snapshotsPath: string;
  readonly sentPath: string;
  readonly url: string;
  readonly apiKey: string;
  readonly sdkVersion: string;
  /** Names of this process's batches sort at or after this one. */
  readonly firstName: string;
  readonly timeoutMs: number;
}

export interface SenderCounts {
  readonly sent: number;
  /** Batches the server will never take (400, 413, 422 …); they stay in the spool. */
  readonly refused: number;
  readonly waiting: number;
}

const gzipBytesMin = 1024;
const compress = promisify(gzip);
const blobUriPattern = /"blob_uri":("file:\/\/[^"\\]*")/g;

type Outcome = "done" | "refused" | "gone" | { readonly retryMs: number | undefined };

export class Sender {
  private readonly options: SenderOptions;
  private readonly finished = new Set<string>();
  private readonly blobsSent = new Map<string, string>();
  private isLoaded = false;
  private isClosed = false;
  private isAsleep = false;
  private running: Promise<void> | null = null;
  private failures = 0;
  private sent = 0;
  private refused = 0;
  private waiting = 0;
  private wakeUp: (() => void) | null = null;

  constructor(options: SenderOptions) {
    this.options = options;
  }

  get counts(): SenderCounts {
    return { sent: this.sent, refused: this.refused, waiting: this.waiting };
  }

  /** There may be something new in the spool. */
  wake(): void {
    if (this.isClosed || this.isAsleep) return;
    this.running ??= this.sendAll().finally(() => {
      this.running = null;
    });
  }

  /** Resolves when all is sent or the time is up. Never rejects. */
  async drain(timeoutMs: number): Promise<void> {
    const until = Date.now() + timeoutMs;
    // Someone waits now, so a back-off in progress is cut short once.
    this.wakeUp?.();
    while (Date.now() < until && !this.isClosed) {
      this.wake();
      await Promise.race([this.running ?? pause(20), pause(Math.min(50, until - Date.now()))]);
      if (this.running === null && (await this.pick()) === undefined) break;
    }
  }

  close(): void {
    this.isClosed = true;
    this.wakeUp?.();
  }

  private async sendAll(): Promise<void> {
    try {
      for (let name = await this.pick(); name !== undefined && !this.isClosed; name = await this.pick()) {
        const outcome = await this.send(name);
        if (typeof outcome === "object") {
          await this.rest(outcome.retryMs ?? toBackOffMs(this.failures++));
          continue;
        }
        this.failures = 0;
        if (outcome === "done") this.sent++;
        if (outcome === "refused") this.refused++;
        this.finished.add(name);
        if (outcome !== "gone") await this.note(name);
      }
    } catch {
      // The folder could not be read; the next wake tries again.
    }
  }

  /** The oldest unsent batch of this process, else the oldest of all. */
  private async pick(): Promise<string | undefined> {
    await this.load();
    const names = await readdir(this.options.spoolPath).catch(() => []);
    const unsent = names.filter((name) => name.endsWith(".json") && !this.finished.has(name)).sort();
    this.waiting = unsent.length;
    return unsent.find((name) => name >= this.options.firstName) ?? unsent[0];
  }

  private async send(name: string): Promise<Outcome> {
    const path = join(this.options.spoolPath, name);
    let json: string;
    try {
      json = await readFile(path, "utf8");
    } catch {
      return "gone";
    }
    const moved = await this.sendBlobs(json);
    if (typeof moved === "object") return moved;
    if (moved !== json) await this.rewrite(path, moved);
    const answer = await this.post(name, moved);
    this.tellRefusal(answer);
    return toOutcome(answer);
  }

  /** If the disk takes no more, the spool keeps the local addresses; the records are the same with either. */
  private async rewrite(path: string, json: string): Promise<void> {
    try {
      await writeFile(`${path}.tmp`, json);
      await rename(`${path}.tmp`, path);
    } catch {
      await rm(`${path}.tmp`, { force: true }).catch(() => undefined);
    }
  }

  /** Reports a wrong key or path, because nobody looks at the counters. */
  private tellRefusal(answer: HttpAnswer): void {
    const { url, spoolPath } = this.options;
    if (answer.kind === "outage" || answer.status < 400 || answer.status > 428) return;
    say(`${url} answers ${answer.status}; what it did not take is in ${spoolPath}`);
  }

  private async post(name: string, json: string): Promise<HttpAnswer> {
    const plainBody = Buffer.from(json);
    const isLarge = plainBody.length >= gzipBytesMin;
    return exchange(
      {
        method: "POST",
        url: this.options.url,
        headers: {
          ...this.headers(),
          "Content-Type": "application/json",
          "X-Cirron-Batch-Id": name.slice(21, -".json".length),
          ...(isLarge ? { "Content-Encoding": "gzip" } : {}),
        },
        body: isLarge ? await compress(plainBody) : plainBody,
      },
      this.options.timeoutMs,
    );
  }

  /** Uploads the local blobs a batch names; returns the batch with their new addresses, or when to try again. */
  private async sendBlobs(json: string): Promise<string | { readonly retryMs: number | undefined }> {
    const uris = new Set([...json.matchAll(blobUriPattern)].map((match) => match[1] as string));
    let moved = json;
    for (const uri of uris) {
      const path = toPath(JSON.parse(uri) as string);
      const location = this.blobsSent.get(path) ?? (await this.sendBlob(path));
      if (typeof location === "object") return location;
      if (location === "") continue;
      this.blobsSent.set(path, location);
      if (this.blobsSent.size > 1024) this.blobsSent.delete(this.blobsSent.keys().next().value as string);
      moved = moved.replaceAll(`"blob_uri":${uri}`, `"blob_uri":${JSON.stringify(location)}`);
    }
    return moved;
  }

  private async sendBlob(path: string): Promise<string | { readonly retryMs: number | undefined }> {
    const { snapshotsPath, url, timeoutMs } = this.options;
    // Only files of our own snapshot folder are ever sent, whatever a batch says.
    if (!path.startsWith(`${snapshotsPath}/`)) return "";
    const body = await readFile(path).catch(() => undefined);
    if (body === undefined) return "";
    const key = `snapshots/${path.slice(snapshotsPath.length + 1)}`;
    const target = `${url.replace(/\/+$/, "")}/blobs/${key}`;
    const headers = {
      ...this.headers(),
      "Content-Type": "application/octet-stream",
      "X-Cirron-Blob-Key": key,
    };
    const answer = await exchange({ method: "PUT", url: target, headers, body }, timeoutMs);
    const outcome = toOutcome(answer);
    if (typeof outcome === "object") return outcome;
    // A blob that is refused does not hold its batch back: the record then keeps the local address.
    if (outcome !== "done" || answer.kind !== "answer") return "";
    return URL.parse(answer.location ?? "", target)?.href ?? target;
  }

  private headers(): Record<string, string> {
    const { apiKey, sdkVersion } = this.options;
    return {
      ...(apiKey === "" ? {} : { Authorization: `Bearer ${apiKey}` }),
      "X-Cirron-SDK-Version": sdkVersion,
      "User-Agent": `tributary-emit/${sdkVersion}`,
    };
  }

  private async load(): Promise<void> {
    if (this.isLoaded) return;
    this.isLoaded = true;
    const text = await readFile(this.options.sentPath, "utf8").catch(() => "");
    const present = new Set(await readdir(this.options.spoolPath).catch(() => []));
    const noted = text.split("\n").filter((name) => name !== "");
    for (const name of noted) if (present.has(name)) this.finished.add(name);
    // Names of evicted batches are dropped from time to time, so the list cannot grow forever.
    if (noted.length <= 2 * this.finished.size + 1000) return;
    const kept = [...this.finished].map((name) => `${name}\n`).join("");
    await writeFile(`${this.options.sentPath}.tmp`, kept).catch(() => undefined);
    await rename(`${this.options.sentPath}.tmp`, this.options.sentPath).catch(() => undefined);
  }

  private async note(name: string): Promise<void> {
    const { sentPath } = this.options;
    // When this cannot be written, the batch is sent once more some day, which is harmless.
    await appendFile(sentPath, `${name}\n`).catch(() => undefined);
  }

  private async rest(waitMs: number): Promise<void> {
    if (this.isClosed) return;
    this.isAsleep = true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      timer.unref();
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wakeUp = null;
    this.isAsleep = false;
  }
}

function toOutcome(answer: HttpAnswer): Outcome {
  if (answer.kind === "outage") return { retryMs: undefined };
  const { status } = answer;
  if (status >= 200 && status < 300) return "done";
  // The content will not get better by waiting. Everything else (a missing key, a wrong path, a server
  // in trouble) can be put right while the batch waits in the spool.
  if (status === 400 || status === 413 || status === 415 || status === 422) return "refused";
  return { retryMs: parseRetryAfterMs(answer.retryAfter, Date.now()) };
}

/** '' for a URI of another machine's file, or of none. */
function toPath(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    return "";
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)).unref());
}
