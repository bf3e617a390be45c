// Whole lines of a trace stream → messages or faults. Pure: the same bytes give the same lines, so the answer to the sender
// and the rows after a replay agree. Each line is handed over as soon as it is read: if a thousand were gathered first, the
// garbage collector would copy them again and again.

import { createHash, hash } from "node:crypto";
import { atPointer } from "#base/json/pointer.ts";
import type { JsonLimits, JsonObject, JsonValue } from "#base/json/value.ts";
import type { Fault, FaultPlace } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import { decodeLine, decodeLineInSteps, type LineFault, type Message } from "./decode.ts";
import { columnOf, defaultSplitLimits, isBlank, type LinePlace, LineSplitter } from "./lines.ts";
import { type Patterns, patternsOf } from "./pattern.ts";
import type { Registry } from "./registry.ts";

/** The bytes, and where in their file or stream they begin. */
export interface LinesSource {
  readonly body: Uint8Array;
  /** '' for none. */
  readonly file: string;
  readonly firstLine: number;
  readonly offset: number;
  /** How many faults are kept one by one; by default the usual bound. */
  readonly faultsMax?: number;
}

export interface TakenLine {
  /** For a node, the record has only what rows are made of. */
  readonly message: Message;
  /** The record's exact bytes; a view of the body. */
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes in hex: the record's identity. */
  readonly digest: string;
  /** Place among the lines of this chunk, from 0. */
  readonly at: number;
}

export interface FaultyLine {
  readonly fault: Fault;
  readonly runId: string;
  readonly at: number;
}

/** Returns null when the line is done; otherwise the rest of the work, with pauses. */
export type TakeLine = (line: TakenLine) => Generator<void, void> | null;

export interface LineLimits {
  readonly lineBytesMax: number;
  readonly json?: JsonLimits;
}

/** A longer line has pauses of its own. */
export const longLineBytes: number = 1024 * 1024;

/** Gives each record to `take` as it is read, with pauses after each line and within long ones. Returns the faulty lines. */
export function* decodeLinesInSteps(
  source: LinesSource,
  registry: Registry,
  take: TakeLine,
  limits: LineLimits = defaultSplitLimits,
): Generator<void, readonly FaultyLine[]> {
  const faulty = new FaultList<FaultyLine>(source.faultsMax);
  const splitter = new LineSplitter(limits, { line: source.firstLine, offset: source.offset });
  let at = 0;
  const body = new Uint8Array(source.body.buffer, source.body.byteOffset, source.body.length);
  const likeBefore = new LikeBefore(body, registry, limits.json);
  for (const lines of [splitter.push(body), splitter.finish()]) {
    for (const line of lines) {
      if (line.kind === "too_long") {
        const place = at++;
        faulty.add(() => ({ fault: toLongFault(line, source.file), runId: "", at: place }));
        continue;
      }
      const { bytes } = line;
      if (isBlank(bytes)) continue;
      yield;
      const isLong = bytes.length > longLineBytes;
      let message = likeBefore.find(bytes);
      if (message === undefined) {
        const options = limits.json === undefined ? {} : { limits: limits.json };
        const decoded = isLong
          ? yield* decodeLineInSteps(bytes, registry, options)
          : decodeLine(bytes, registry, options);
        if (!decoded.ok) {
          const place = at++;
          faulty.add(() => toFaultyLine(decoded.faults[0], line, place, source.file));
          continue;
        }
        message = toLean(decoded.message);
        likeBefore.learn(bytes, message);
      }
      const digest = isLong ? yield* digestLong(bytes) : hash("sha256", bytes, "hex");
      const rest = take({ message, bytes, digest, at: at++ });
      if (rest !== null) yield* rest;
    }
  }
  return faulty.toArray((first, count) => ({ ...first, fault: toRestFault(first.fault, count) }));
}

/** Recognises lines of one body that are like others that were judged. */
class LikeBefore {
  private readonly patterns: Patterns;
  private readonly body: Uint8Array;
  private readonly view: DataView;

  constructor(body: Uint8Array, registry: Registry, limits: JsonLimits | undefined) {
    this.patterns = patternsOf(registry, limits);
    this.body = body;
    this.view = new DataView(body.buffer, body.byteOffset, body.length);
  }

  find(line: Uint8Array): Message | undefined {
    const { body, view } = this;
    const from = line.byteOffset - body.byteOffset;
    // A line that was joined from pieces is not in the body.
    const isView = line.buffer === body.buffer && from >= 0 && from + line.length <= body.length;
    if (isView) return this.patterns.find(body, view, from, from + line.length);
    return this.patterns.find(line, new DataView(line.buffer, line.byteOffset, line.length), 0, line.length);
  }

  learn(line: Uint8Array, message: Message): void {
    this.patterns.learn(line, message);
  }
}

/** The fields of a node's record that tell its run and make its columns. */
const nodeFields = ["identity", "timing", "status", "seq", "timestamp"] as const;
/** Of these fields, only one member is needed. */
const nodeMembers = { dependencies: "upstream", processor: "ref" } as const;

/** Drops the rest of a node's record, which is most of it: it was judged and is in the line's bytes, and lines like it need not copy it. */
function toLean(message: Message): Message {
  const { type, known, record } = message;
  if (!known || type !== "ser") return message;
  const lean: JsonObject = {};
  for (const name of nodeFields) if (Object.hasOwn(record, name)) lean[name] = record[name] as JsonValue;
  for (const [name, member] of Object.entries(nodeMembers)) {
    const inner = atPointer(record, `/${name}/${member}`);
    if (inner !== undefined) lean[name] = { [member]: inner };
  }
  return { ...message, record: lean };
}

function* digestLong(bytes: Uint8Array): Generator<void, string> {
  const sum = createHash("sha256");
  for (let at = 0; at < bytes.length; at += longLineBytes) {
    yield;
    sum.update(bytes.subarray(at, at + longLineBytes));
  }
  return sum.digest("hex");
}

function toFaultyLine(
  first: LineFault,
  line: { readonly bytes: Uint8Array; readonly place: LinePlace; readonly ended: boolean },
  at: number,
  file: string,
): FaultyLine {
  // Without its LF, a line that is not JSON is most likely half a line.
  const torn = !line.ended && first.code === "line_not_json";
  const found: LineFault = torn ? { ...first, code: "line_torn" } : first;
  return { fault: toFault(found, line.bytes, line.place, file), runId: first.runId, at };
}

function toFault(found: LineFault, line: Uint8Array, place: LinePlace, file: string): Fault {
  const { code, detail, offset, pointer } = found;
  return { code, detail, place: toPlace(place, file, line, offset, pointer), raw: line.slice() };
}

function toLongFault(line: { head: Uint8Array; lengthBytes: number; place: LinePlace }, file: string): Fault {
  const detail = `the line has ${line.lengthBytes} bytes, of which the first ${line.head.length} are kept`;
  return { code: "line_too_long", detail, place: toPlace(line.place, file, line.head, 0, ""), raw: line.head.slice() };
}

/** Where a byte of a line lies in its file. */
export function toPlace(place: LinePlace, file: string, line: Uint8Array, offset: number, pointer: string): FaultPlace {
  return {
    ...(file === "" ? {} : { file }),
    line: place.line,
    column: columnOf(line, offset),
    offset: place.offset + offset,
    ...(pointer === "" ? {} : { pointer }),
  };
}
