// Damage to what a killed server left on its disk, and which records it may cost.

import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readDurable } from "#base/durable-file.ts";
import { nodeFiles } from "#base/files.ts";
import { decodeInput, type Input } from "#intake/input.ts";
import { parseSegmentName, recordHeaderBytes } from "#journal/layout.ts";
import { type ScannedRecord, scanRecords } from "#journal/scan.ts";
import type { RecordKind } from "./ledger.ts";

type Random = () => number;

/** What the senders of the campaign put into one journal record. */
export interface Damaged {
  readonly kind: RecordKind;
  readonly ids: readonly string[];
  /** Nothing else holds the record: it must be told as lost. */
  readonly isOnlyCopy: boolean;
}

/** Flips a byte of a record that is not stored yet; null when there is none of the campaign's own but the last. */
export async function flipJournal(dataDir: string, random: Random): Promise<Damaged | null> {
  const path = lastSegment(dataDir);
  const outbox = join(dataDir, "outbox");
  const stored = Number(new TextDecoder().decode(await readDurable(nodeFiles, join(outbox, "position"))));
  const planned = readdirSync(outbox).flatMap((name) => (name.endsWith(".plan") ? [Number.parseInt(name, 10)] : []));
  const records = await readRecords(path);
  // A damaged last record looks like a write that was cut off, which nobody was told of.
  const possible = records.slice(0, -1).flatMap((record) => {
    const input = record.position > stored ? decodeInput(record.payload) : null;
    const own = input === null ? null : idsOf(input);
    return own === null ? [] : [{ record, own }];
  });
  const chosen = possible[Math.floor(random() * possible.length)];
  if (chosen === undefined) return null;
  const { offset, payload, position } = chosen.record;
  flip(path, offset + recordHeaderBytes + Math.floor(random() * payload.length), random);
  return { ...chosen.own, isOnlyCopy: planned.every((to) => position > to) };
}

/** Flips a byte of a file of the outbox, or cuts it: what it held is in the journal too. */
export function damageOutbox(dataDir: string, random: Random): void {
  const folder = join(dataDir, "outbox");
  const names = readdirSync(folder).filter((name) => !name.endsWith(".tmp"));
  const name = names[Math.floor(random() * names.length)];
  if (name === undefined) return;
  const path = join(folder, name);
  const { length } = readFileSync(path);
  const at = Math.floor(random() * length);
  if (random() < 0.5) truncateSync(path, at);
  else flip(path, at, random);
}

export function lastSegment(dataDir: string): string {
  const folder = join(dataDir, "journal");
  const names = readdirSync(folder).filter((name) => name.endsWith(".journal"));
  return join(folder, names.sort().at(-1) as string);
}

function flip(path: string, at: number, random: Random): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
  writeFileSync(path, bytes);
}

async function readRecords(path: string): Promise<ScannedRecord[]> {
  const name = parseSegmentName(path.slice(path.lastIndexOf("/") + 1));
  if (name === undefined) throw new Error(`${path} is no segment`);
  const file = await nodeFiles.open(path, "read");
  try {
    const range = { salt: name.salt, endOffset: await file.size(), endPosition: Number.POSITIVE_INFINITY };
    const all: ScannedRecord[] = [];
    for await (const records of scanRecords(file, range)) all.push(...records);
    return all;
  } finally {
    await file.close();
  }
}

/** Null for what no sender of the campaign waits for. */
function idsOf(input: Input): Pick<Damaged, "kind" | "ids"> | null {
  const text = new TextDecoder().decode(input.body);
  if (input.kind === "cirron_batch")
    return { kind: "spans", ids: (JSON.parse(text) as { spans: { id: string }[] }).spans.map(({ id }) => id) };
  if (input.kind === "semantiva_lines") return { kind: "nodes", ids: text.trim().split("\n").map(toNodeId) };
  if (input.kind === "xtrack_frames") return { kind: "points", ids: [...readFrames(input.body)] };
  return null;
}

function toNodeId(line: string): string {
  const { identity } = JSON.parse(line) as { identity: { run_id: string; node_id: string } };
  return `${identity.run_id}/${identity.node_id}`;
}

interface Frame {
  readonly m: { readonly seq: number; readonly wid: string };
  readonly p: { readonly run_id: string };
}

/** A frame is its length, in four bytes, and JSON. */
function* readFrames(body: Uint8Array): Generator<string> {
  const bytes = Buffer.from(body);
  for (let at = 0; at + 4 <= bytes.length; at += 4 + bytes.readUInt32BE(at)) {
    const { m, p } = JSON.parse(bytes.toString("utf8", at + 4, at + 4 + bytes.readUInt32BE(at))) as Frame;
    yield `${p.run_id}/${m.wid}/${m.seq}`;
  }
}
