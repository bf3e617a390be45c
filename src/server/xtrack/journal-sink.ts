// For tests of the connections alone: a sink that frames and reads events in the plainest way and keeps their bytes in
// a real journal, one record per chunk.

import { parseJson } from "#base/json/parse.ts";
import type { JsonObject, JsonValue } from "#base/json/value.ts";
import type { Journal } from "#journal/journal.ts";
import { Framer } from "#wire/xtrack/frame.ts";
import type { EventOutcome, StreamEvents, StreamOrigin, XtrackSink, XtrackStream } from "./ports.ts";

export interface JournalSink extends XtrackSink {
  readonly origins: StreamOrigin[];
  /** How each stream ended, in order. */
  readonly endings: string[];
  /** Events that could not be kept because there was no room. */
  lost: number;
  isFull: boolean;
  onControl: (event: JsonObject) => void;
}

export function createJournalSink(journal: Journal): JournalSink {
  const sink: JournalSink = {
    origins: [],
    endings: [],
    lost: 0,
    isFull: false,
    onControl: () => undefined,
    isCrowded: () => sink.isFull,
    openStream(origin, events) {
      sink.origins.push(origin);
      return new JournalStream(journal, sink, events);
    },
  };
  return sink;
}

class JournalStream implements XtrackStream {
  frames = 0;
  pendingBytes = 0;
  reports = false;
  isPatient = false;
  private readonly journal: Journal;
  private readonly sink: JournalSink;
  private readonly events: StreamEvents;
  private readonly framer = new Framer();
  private readonly workers = new Set<string>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(journal: Journal, sink: JournalSink, events: StreamEvents) {
    this.journal = journal;
    this.sink = sink;
    this.events = events;
  }

  push(chunk: Uint8Array): void {
    this.framer.push(chunk);
    const frames: Uint8Array[] = [];
    const outcomes: EventOutcome[] = [];
    for (let step = this.framer.next(); step !== "wait" && step !== "end"; step = this.framer.next()) {
      if (step !== "frame") continue;
      const { bytes, frameStart, frameEnd } = this.framer;
      const parsed = parseJson(bytes.subarray(frameStart, frameEnd));
      if (!parsed.ok) {
        this.framer.reject();
        continue;
      }
      this.frames++;
      frames.push(bytes.subarray(frameStart - 4, frameEnd));
      const outcome = this.look(parsed.value);
      if (this.reports && outcome !== undefined) outcomes.push(outcome);
    }
    if (frames.length > 0) this.keep(frames, outcomes);
  }

  async end(how: string): Promise<void> {
    this.framer.finish();
    this.push(new Uint8Array(0));
    await this.last;
    this.sink.endings.push(how);
  }

  private look(event: JsonValue): EventOutcome | undefined {
    const { t, m, p } = event as { t: string; m: JsonObject; p: JsonObject };
    const id = p["run_id"] as string | JsonObject | undefined;
    const runId = String(typeof id === "object" ? id["id"] : (id ?? ""));
    const wid = String(m["wid"] ?? "");
    const accepts = t === "run_start" && Array.isArray(p["accepts"]) ? p["accepts"] : [];
    const isControl = t === "ack" || t === "command";
    if (!isControl && !this.workers.has(`${runId}\0${wid}`)) {
      this.workers.add(`${runId}\0${wid}`);
      this.events.onWorker(runId, wid);
    }
    for (const what of ["ack", "command"] as const) if (isControl || accepts.includes(what)) this.events.onAsk(what);
    this.sink.onControl(event as JsonObject);
    if (isControl) return undefined;
    const error = t === "metric" && p["value"] === undefined ? "p.value is required and missing" : null;
    return { runId, wid, seq: m["seq"] as number, error };
  }

  private keep(frames: readonly Uint8Array[], outcomes: readonly EventOutcome[]): void {
    const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
    this.pendingBytes += bytes;
    this.last = Promise.all([this.last, this.write(frames, bytes, outcomes)]);
  }

  private async write(frames: readonly Uint8Array[], bytes: number, outcomes: readonly EventOutcome[]): Promise<void> {
    for (;;) {
      const appended = this.sink.isFull ? "disk_full" : this.journal.append(frames);
      if (typeof appended !== "string") {
        await appended;
        break;
      }
      if (!this.isPatient) {
        this.sink.lost += frames.length;
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    this.pendingBytes -= bytes;
    if (outcomes.length > 0) this.events.onOutcomes(outcomes);
    this.events.onRoom();
  }
}
