// Events of peers that cannot wait, which came while there was no room. They are lost, but not silently: as soon as
// there is room, each run gets a fault that says which of its events are missing.

import type { RunId, WorkerId, Workspace } from "#model/names.ts";
import type { EventColumns } from "#wire/xtrack/event-columns.ts";
import { encodeNote } from "#wire/xtrack/segments.ts";

export interface Loss {
  readonly workspace: Workspace;
  readonly transport: string;
  readonly runId: RunId;
  readonly wid: WorkerId;
  firstSeq: bigint;
  lastSeq: bigint;
  events: number;
  readonly sinceNs: bigint;
}

const lossesMax = 10_000;

export class LossLedger {
  private readonly losses = new Map<string, Loss>();

  get isEmpty(): boolean {
    return this.losses.size === 0;
  }

  add(workspace: Workspace, transport: string, columns: EventColumns, nowNs: bigint): void {
    for (let event = 0; event < columns.length; event++) {
      const runId = columns.run.at(event);
      const wid = columns.worker.at(event);
      const seq = columns.seq.at(event);
      const loss = this.lossOf(workspace, transport, runId, wid, seq, nowNs);
      if (seq < loss.firstSeq) loss.firstSeq = seq;
      if (seq > loss.lastSeq) loss.lastSeq = seq;
      loss.events++;
    }
  }

  /** Removes the oldest loss. */
  take(): Loss | undefined {
    for (const [key, loss] of this.losses) {
      this.losses.delete(key);
      return loss;
    }
    return undefined;
  }

  /** Returns a loss that could not be recorded. */
  putBack(loss: Loss): void {
    const key = toKey(loss.workspace, loss.runId, loss.wid);
    const newer = this.losses.get(key);
    if (newer === undefined) {
      this.losses.set(key, loss);
      return;
    }
    if (loss.firstSeq < newer.firstSeq) newer.firstSeq = loss.firstSeq;
    if (loss.lastSeq > newer.lastSeq) newer.lastSeq = loss.lastSeq;
    newer.events += loss.events;
  }

  private lossOf(
    workspace: Workspace,
    transport: string,
    runId: RunId,
    wid: WorkerId,
    seq: bigint,
    nowNs: bigint,
  ): Loss {
    const isCrowded = this.losses.size >= lossesMax;
    const key = toKey(workspace, runId, wid);
    const known = this.losses.get(key) ?? (isCrowded ? this.losses.get(toKey(workspace, "", "")) : undefined);
    if (known !== undefined) return known;
    const names = isCrowded ? { runId: "", wid: "" } : { runId, wid };
    const loss = { workspace, transport, ...names, firstSeq: seq, lastSeq: seq, events: 0, sinceNs: nowNs };
    this.losses.set(toKey(workspace, names.runId, names.wid), loss);
    return loss;
  }
}

/** The body of a journal record that says what was lost. Each loss is a fault of its own because its bytes differ. */
export function toLossBody(loss: Loss): Uint8Array {
  const { runId, wid, firstSeq, lastSeq, events, sinceNs } = loss;
  const worker = wid === "" ? "" : ` of worker ${wid}`;
  const range = firstSeq === lastSeq ? `event ${firstSeq}` : `events ${firstSeq} to ${lastSeq}`;
  const raw = JSON.stringify({
    run_id: runId,
    wid,
    first_seq: String(firstSeq),
    last_seq: String(lastSeq),
    events,
    since_ns: String(sinceNs),
  });
  return encodeNote({
    code: "xtrack_events_lost",
    detail: `${events} of ${range}${worker} came while there was no room and were not kept`,
    length: 0,
    raw: new TextEncoder().encode(raw),
  });
}

function toKey(workspace: Workspace, runId: RunId, wid: WorkerId): string {
  return `${workspace}\0${runId}\0${wid}`;
}
