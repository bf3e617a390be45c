// The profiled process: its session span, where batches go, and how it ends. One per thread.

import { version } from "#base/version.ts";
import { watchProcessEnd } from "#emit/process-end.ts";
import { writeDescriptor } from "#emit/write-descriptor.ts";
import { formatSentinelHead, formatSpoolName, type SentinelType, sentinelEnd } from "#wire/cirron/encode.ts";
import { formatNs, nowNs } from "./clock.ts";
import { createDelivery, type Delivering } from "./delivery.ts";
import { type BatchSink, Recorder, type RecorderCounts } from "./recorder.ts";
import type { SenderCounts } from "./sender.ts";
import { type ProfileOptions, readSettings, type Settings } from "./settings.ts";
import { type Model, Snapshots } from "./snapshots.ts";
import type { Span } from "./span.ts";
import { Spool, type SpoolCounts } from "./spool.ts";

/** What happened to the records so far; nothing is lost without being counted here. */
export interface Health extends RecorderCounts {
  readonly spool: SpoolCounts;
  readonly http: SenderCounts;
}

const cirronSdkVersion = `${version}+tributary`;
const sendTimeoutMs = 10_000;
const overheadEveryNs = 60e9;
const nothingSpooled: SpoolCounts = { written: 0, evicted: 0, lost: 0, waitingBytes: 0 };
const nothingSent: SenderCounts = { sent: 0, refused: 0, waiting: 0 };

export class Profiler implements BatchSink {
  readonly recorder = new Recorder();
  snapshots: Snapshots | null = null;
  readonly watched: Model[] = [];
  private settings: Settings | null = null;
  private spool: Spool | null = null;
  private delivery: Delivering | null = null;
  private http: SenderCounts = nothingSent;
  private timer: NodeJS.Timeout | null = null;
  private overheadAtNs = 0;
  private stopWatching: () => void = () => undefined;

  get isRunning(): boolean {
    return this.recorder.session !== null;
  }

  get health(): Health {
    return {
      ...this.recorder.counts,
      spool: this.spool?.counts ?? nothingSpooled,
      http: this.delivery?.counts ?? this.http,
    };
  }

  start(options: ProfileOptions): void {
    if (this.isRunning) return;
    this.recorder.isEnabled = options.enabled !== false;
    if (!this.recorder.isEnabled) return;
    const settings = readSettings(options);
    this.settings = settings;
    this.spool = new Spool(settings.spoolPath, settings.spoolBytesMax);
    this.startDelivery(settings);
    this.snapshots = new Snapshots(
      this.recorder,
      { ...settings, mode: settings.snapshots, random: Math.random },
      (path, key) =>
        this.writeSentinel("trace_blob", Buffer.from(JSON.stringify({ remote_key: key, local_path: path }))),
    );
    const { recorder } = this;
    recorder.sdkVersion = cirronSdkVersion;
    recorder.flushIntervalNs = settings.flushIntervalMs * 1e6;
    recorder.setSink(this, settings.rank);
    recorder.session = recorder.open("cirron.session", null, { attrs: settings.sessionAttrs });
    this.overheadAtNs = nowNs() + overheadEveryNs;
    this.hook(settings);
  }

  /** Ends the session and writes everything; then waits for the server, at most `timeoutMs`. Never rejects. */
  async stop(timeoutMs: number): Promise<void> {
    this.endSession();
    const { delivery } = this;
    this.delivery = null;
    if (delivery === null) return;
    await delivery.drain(timeoutMs);
    this.http = delivery.counts;
    delivery.close();
  }

  captureWatched(span: Span): void {
    for (const model of this.watched) {
      try {
        this.snapshots?.captureModel(span, model);
      } catch {
        // A model whose parameters cannot be read is left out; training goes on.
      }
    }
  }

  write(createdNs: string, batchId: string, json: Uint8Array): void {
    this.spool?.write(createdNs, batchId, json);
    this.writeSentinel("trace_batch", json);
    this.delivery?.wake();
  }

  private startDelivery(settings: Settings): void {
    const { delivery } = settings;
    if (delivery.kind !== "http") return;
    this.delivery = createDelivery({
      spoolPath: settings.spoolPath,
      snapshotsPath: settings.snapshotsPath,
      sentPath: settings.sentPath,
      url: delivery.url,
      apiKey: delivery.apiKey,
      sdkVersion: cirronSdkVersion,
      firstName: formatSpoolName(formatNs(nowNs()), ""),
      timeoutMs: sendTimeoutMs,
    });
  }

  private hook(settings: Settings): void {
    this.stopWatching();
    this.stopWatching = watchProcessEnd({
      signals: settings.signals,
      onExit: () => this.endSession(),
      onSignal: () => this.endSession(),
    });
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = setInterval(() => this.tick(), settings.flushIntervalMs).unref();
  }

  private tick(): void {
    const { recorder } = this;
    if (recorder.session !== null && nowNs() >= this.overheadAtNs) {
      this.overheadAtNs = nowNs() + overheadEveryNs;
      this.markOverhead(recorder.session, "point");
    }
    this.spool?.writeWaiting();
    recorder.flush();
  }

  private markOverhead(session: Span, kind: "point" | "summary"): void {
    const { overheadMs, marks, spans, dropped } = this.recorder.counts;
    session.mark("cirron.overhead_ms", overheadMs, { marks, spans, dropped }, kind);
  }

  /** Synchronous, because it also runs while the process exits. */
  private endSession(): void {
    const { recorder } = this;
    const { session } = recorder;
    if (session !== null) {
      recorder.closeAll();
      this.markOverhead(session, "summary");
      recorder.close(session);
      recorder.session = null;
      this.watched.length = 0;
    }
    recorder.flush();
    recorder.isEnabled = true;
  }

  private writeSentinel(type: SentinelType, payloadJson: Uint8Array): void {
    if (this.settings?.delivery.kind !== "stdout") return;
    const head = Buffer.from(formatSentinelHead(type, cirronSdkVersion));
    const line = Buffer.concat([head, payloadJson, Buffer.from(sentinelEnd)]);
    // A line that cannot be written is still in the spool.
    writeDescriptor(1, line);
  }
}
