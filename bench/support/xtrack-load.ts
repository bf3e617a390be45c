// XTrack frames as the Python emitter writes them, encoded before the clock starts.

import { toFrame } from "./xtrack-socket.ts";

export interface XtrackLoad {
  /** One list of chunks per connection. */
  readonly streams: Buffer[][];
  readonly events: number;
  readonly points: number;
  readonly bytes: number;
}

const framesPerChunk = 500;
const firstUs = 1_700_000_000_000_000;

/** `batch` points in each event; 0 for single metrics. */
export function createXtrackLoad(run: string, connections: number, events: number, batch: number): XtrackLoad {
  const each = Math.floor(events / connections);
  const streams = Array.from({ length: connections }, (_, worker) => createStream(run, worker, each, batch));
  const bytes = streams.flat().reduce((sum, chunk) => sum + chunk.length, 0);
  return { streams, events: each * connections, points: each * connections * Math.max(1, batch), bytes };
}

function createStream(run: string, worker: number, events: number, batch: number): Buffer[] {
  const meta = (seq: number) => `"m":{"seq":${seq},"ts":${firstUs + seq * 50},"wid":"w${worker}"}`;
  const chunks: Buffer[] = [];
  let frames = [toFrame(`{"v":1,"t":"run_start",${meta(1)},"p":{"run_id":{"id":"${run}"}}}`)];
  for (let seq = 2; seq <= events + 1; seq++) {
    frames.push(toFrame(batch === 0 ? toMetric(run, meta(seq), seq) : toBatch(run, meta(seq), seq, batch)));
    if (frames.length < framesPerChunk && seq <= events) continue;
    chunks.push(Buffer.concat(frames));
    frames = [];
  }
  return chunks;
}

function toMetric(run: string, meta: string, seq: number): string {
  const value = Math.fround(4 / Math.sqrt(seq));
  return `{"v":1,"t":"metric",${meta},"p":{"run_id":"${run}","key":"train/loss","value":${value},"step":${seq},"ctx":{"phase":"train"}}}`;
}

function toBatch(run: string, meta: string, seq: number, size: number): string {
  const entries = Array.from({ length: size }, (_, at) => `"layer_${at}/grad_norm":${Math.fround(1 / (seq + at))}`);
  return `{"v":1,"t":"metric_batch",${meta},"p":{"run_id":"${run}","step":${seq},"metrics":{${entries.join(",")}},"ctx":{"phase":"train"}}}`;
}
