// Acks for the events of one journal record, all in one piece, because a client reads frames without buffering and
// each must reach it whole. To be sent after the record is durable, and only to a connection that asked for acks.

import { formatJson } from "#base/json/format.ts";
import { protocolVersion } from "#wire/xtrack/messages.ts";
import { prefixBytes } from "#wire/xtrack/resync.ts";
import type { DecodedXtrack } from "./stream.ts";

/** The acks a connection has been sent so far; its own sequence of frames. */
export interface AckCounter {
  seq: number;
}

/** Copies of known events are acked like new ones: they are stored, which is what the client wants to know. */
export function encodeAcks(decoded: DecodedXtrack, counter: AckCounter, tsUs: number): Uint8Array {
  const { columns, faults } = decoded;
  const texts: string[] = [];
  const isAsked = columns.type.keys.map((type) => type !== "ack" && type !== "command");
  const names = new Map<number, string>();
  for (let event = 0; event < columns.length; event++) {
    if (!isAsked[columns.type.codes[event] as number]) continue;
    const run = columns.run.codes[event] as number;
    const worker = columns.worker.codes[event] as number;
    const key = run * columns.worker.keys.length + worker;
    const name = names.get(key) ?? formatName(columns.run.keys[run] as string, columns.worker.keys[worker] as string);
    names.set(key, name);
    texts.push(formatAck(counter, tsUs, `"seq":${columns.seq.at(event)},"status":"ok","error":null${name}`));
  }
  for (const { fault, run, worker, seq } of faults) {
    if (seq === undefined) continue;
    const error = formatJson(`${fault.code}: ${fault.detail}`, "strict");
    const name = formatName(run, worker);
    texts.push(formatAck(counter, tsUs, `"seq":${seq},"status":"error","error":${error}${name}`));
  }
  return encodeTexts(texts);
}

function formatName(run: string, worker: string): string {
  const wid = worker === "" ? "" : `,"wid":${formatJson(worker, "strict")}`;
  return `${run === "" ? "" : `,"run_id":${formatJson(run, "strict")}`}${wid}`;
}

function formatAck(counter: AckCounter, tsUs: number, payload: string): string {
  counter.seq++;
  return `{"v":${protocolVersion},"t":"ack","m":{"seq":${counter.seq},"ts":${tsUs}},"p":{${payload}}}`;
}

function encodeTexts(texts: readonly string[]): Uint8Array {
  const bytes = new Uint8Array(texts.reduce((sum, text) => sum + prefixBytes + text.length * 3, 0));
  const view = new DataView(bytes.buffer);
  const encoder = new TextEncoder();
  let at = 0;
  for (const text of texts) {
    const { written } = encoder.encodeInto(text, bytes.subarray(at + prefixBytes));
    view.setUint32(at, written);
    at += prefixBytes + written;
  }
  return bytes.slice(0, at);
}
