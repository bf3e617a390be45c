// How fast the lossless JSON reader and the Cirron decoder are beside JSON.parse, on the same bytes in the same process.
// Usage: node bench/json.ts [--save]   (--save rewrites bench/results/json.md)

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { JsonCursor } from "#base/json/cursor.ts";
import { parseJson } from "#base/json/parse.ts";
import { decodeBatch } from "#wire/cirron/decode.ts";

const turns = 8;
const millisecondsPerTurn = 200;

interface Traffic {
  readonly name: string;
  readonly texts: readonly Uint8Array[];
  readonly isCirron: boolean;
}

type Reader = readonly [name: string, read: (text: Uint8Array) => unknown];

const asBuffer = (text: Uint8Array) => Buffer.from(text.buffer, text.byteOffset, text.length);
/** What a server without a reader of its own would do with the bytes it received. */
const plainParse: Reader = ["JSON.parse", (text) => JSON.parse(asBuffer(text).toString()) as unknown];
const readers: readonly Reader[] = [
  plainParse,
  ["parseJson", (text) => parseJson(text)],
  ["JsonCursor.skipValue", (text) => new JsonCursor(text).skipValue()],
];
const cirronReaders: readonly Reader[] = [...readers, ["decodeBatch", (text) => decodeBatch(text)]];

function readFiles(pattern: string): Uint8Array[] {
  return globSync(pattern)
    .sort()
    .map((file) => readFileSync(file));
}

/** The frames of an XTrack file: four bytes of length, then that many of JSON. */
function readFrames(file: string): Uint8Array[] {
  const bytes = readFileSync(file);
  const frames: Uint8Array[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    frames.push(bytes.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  return frames;
}

/** JSON.parse cannot take part in texts with NaN. */
function isStrict(text: Uint8Array): boolean {
  try {
    plainParse[1](text);
    return true;
  } catch {
    return false;
  }
}

/** The fastest of many rounds for each reader; readers take turns, so that a busy machine slows all of them alike. */
function measure(traffic: Traffic): string[] {
  const texts = traffic.texts.filter(isStrict);
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  const bestMs = new Map<string, number>();
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, read] of traffic.isCirron ? cirronReaders : readers) {
      const endMs = performance.now() + millisecondsPerTurn;
      for (let startMs = performance.now(); startMs < endMs; ) {
        for (const text of texts) read(text);
        const nowMs = performance.now();
        bestMs.set(name, Math.min(nowMs - startMs, bestMs.get(name) ?? Number.POSITIVE_INFINITY));
        startMs = nowMs;
      }
    }
  }
  const baseMs = bestMs.get(plainParse[0]) as number;
  return [...bestMs].map(([name, ms]) => {
    const mebibytes = bytes / 1024 / 1024 / (ms / 1000);
    const perText = (ms * 1000) / texts.length;
    return `| ${traffic.name} | ${texts.length} | ${name} | ${mebibytes.toFixed(0)} | ${perText.toFixed(2)} | ${(baseMs / ms).toFixed(2)} |`;
  });
}

const sweep = readFrames("examples/data/h200/sweep.xtrack.bin");
const traffics: readonly Traffic[] = [
  {
    name: "Cirron, H200 training",
    texts: readFiles("examples/data/h200/cirron-stats/.cirron/spool/*.json"),
    isCirron: true,
  },
  { name: "Cirron, small batches", texts: readFiles("tests/fixtures/cirron/*/.cirron/spool/*.json"), isCirron: true },
  { name: "XTrack, H200 sweep", texts: sweep, isCirron: false },
  { name: "XTrack, H200 training", texts: readFrames("examples/data/h200/cirron-twin.xtrack.bin"), isCirron: false },
];

const processor = cpus()[0]?.model ?? "unknown processor";
const lines = [
  "# JSON",
  "",
  `\`node bench/json.ts\` on ${cpus().length} × ${processor}, Node ${process.version}, ${process.platform}.`,
  "The fastest of many rounds, beside `JSON.parse` of the same bytes (decoded to a string first, as a server must).",
  "`decodeBatch` ends in typed columns, ready for the store; the others end in objects or nothing.",
  "",
  "| traffic | texts | reader | MiB/s | µs a text | JSON.parse = 1 |",
  "| --- | ---: | --- | ---: | ---: | ---: |",
  ...traffics.flatMap(measure),
  "",
];
console.log(lines.join("\n"));
if (process.argv.includes("--save")) writeFileSync("bench/results/json.md", lines.join("\n"));
