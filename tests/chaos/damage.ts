// Damage to what a killed server left on its disk, and which records it may cost.

import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readDurable } from "#base/durable-file.ts";
import { nodeFiles } from "#base/files.ts";
import { decodeInput, type Input } from "#intake/input.ts";
import type { OtlpExportInput } from "#intake/otlp/export-input.ts";
import { parseSegmentName, recordHeaderBytes } from "#journal/layout.ts";
import { type ScannedRecord, scanRecords } from "#journal/scan.ts";
import type { RecordKind } from "./ledger.ts";

type Random = () => number;

/** What a sender of the campaign wrote down: a record, or its answer to a command. */
interface Noted {
  readonly kind: RecordKind | "command";
  readonly id: string;
}

/** What the senders of the campaign put into one journal record. */
export interface Damaged {
  readonly noted: readonly Noted[];
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
    const noted = input === null ? [] : readNoted(input);
    return noted.length === 0 ? [] : [{ record, noted }];
  });
  const chosen = possible[Math.floor(random() * possible.length)];
  if (chosen === undefined) return null;
  const { offset, payload, position } = chosen.record;
  flip(path, offset + recordHeaderBytes + Math.floor(random() * payload.length), random);
  return { noted: chosen.noted, isOnlyCopy: planned.every((to) => position > to) };
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

const otlpKinds = { traces: "otlpSpans", metrics: "otlpPoints", logs: "otlpLogs" } as const;

/** Nothing for what no sender of the campaign waits for. */
function readNoted(input: Input): Noted[] {
  const text = Buffer.from(input.body).toString("latin1");
  switch (input.kind) {
    case "cirron_batch":
      return (JSON.parse(text) as { spans: { id: string }[] }).spans.map(({ id }) => ({ kind: "spans", id }));
    case "semantiva_lines":
      return text
        .trim()
        .split("\n")
        .map((line) => ({ kind: "nodes", id: toNodeId(line) }));
    case "xtrack_frames":
      return [...readFrames(input.body)];
    case "otlp_export": {
      // The ids stand as text in the protobuf, and nothing else looks like them.
      const kind = otlpKinds[(input as OtlpExportInput).signal];
      return (text.match(/[0-9a-f]{32}/g) ?? []).map((id) => ({ kind, id }));
    }
    default:
      return [];
  }
}

function toNodeId(line: string): string {
  const { identity } = JSON.parse(line) as { identity: { run_id: string; node_id: string } };
  return `${identity.run_id}/${identity.node_id}`;
}

interface Frame {
  readonly m: { readonly seq: number; readonly wid: string };
  readonly p: { readonly run_id: string; readonly cmd_id?: string };
}

/** A frame is its length, in four bytes, and JSON. */
function* readFrames(body: Uint8Array): Generator<Noted> {
  const bytes = Buffer.from(body);
  for (let at = 0; at + 4 <= bytes.length; at += 4 + bytes.readUInt32BE(at)) {
    const { m, p } = JSON.parse(bytes.toString("utf8", at + 4, at + 4 + bytes.readUInt32BE(at))) as Frame;
    if (p.cmd_id === undefined) yield { kind: "points", id: `${p.run_id}/${m.wid}/${m.seq}` };
    else yield { kind: "command", id: p.cmd_id };
  }
}
