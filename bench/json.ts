// How fast the lossless JSON reader and the Cirron decoder are beside JSON.parse, on the same bytes in the same process.
// Usage: node bench/json.ts [--save]   (--save rewrites bench/results/json.md)

import { globSync, readFileSync } from "node:fs";
import { JsonCursor } from "#base/json/cursor.ts";
import { parseJson } from "#base/json/parse.ts";
import { decodeBatch } from "#wire/cirron/decode.ts";
import { cpuMs, describeMachine, quantile } from "./support/server.ts";
import { savePage } from "./support/words.ts";
import { textsOf } from "./support/xtrack-socket.ts";

const warmUpRounds = 15;
const measuredRounds = 40;
/** How many rounds a reader runs before the next one's turn. */
const turnRounds = 20;

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

/** JSON.parse cannot take part in texts with NaN. */
function isStrict(text: Uint8Array): boolean {
  try {
    plainParse[1](text);
    return true;
  } catch {
    return false;
  }
}

/**
 * How readers share the time. In turns, each runs alone for a while, with warm caches and its own garbage only;
 * alternating, each round finds what the others left behind, as in a server that does many things. The two differ, so
 * both are reported.
 */
type Schedule = "turns" | "alternating";

/** The median round of each reader, in milliseconds of processor time. */
function measureMedian(texts: readonly Uint8Array[], all: readonly Reader[], schedule: Schedule): Map<string, number> {
  const rounds = new Map<string, number[]>(all.map(([name]) => [name, []]));
  const inRow = schedule === "turns" ? turnRounds : 1;
  for (let round = 0; round < warmUpRounds + measuredRounds; round += inRow) {
    for (const [name, read] of all) {
      const readAll = (): void => texts.forEach((text) => void read(text));
      for (let i = 0; i < inRow; i++) rounds.get(name)?.push(cpuMs(readAll));
    }
  }
  return new Map(all.map(([name]) => [name, quantile(rounds.get(name)?.slice(warmUpRounds) ?? [], 0.5)]));
}

function measure(traffic: Traffic): string[] {
  const texts = traffic.texts.filter(isStrict);
  const mebibytes = texts.reduce((sum, text) => sum + text.length, 0) / 1024 / 1024;
  const all = traffic.isCirron ? cirronReaders : readers;
  const inTurns = measureMedian(texts, all, "turns");
  const alternating = measureMedian(texts, all, "alternating");
  const cells = (medianMs: Map<string, number>, name: string) => {
    const ms = medianMs.get(name) as number;
    return `${(mebibytes / (ms / 1000)).toFixed(0)} | ${((medianMs.get(plainParse[0]) as number) / ms).toFixed(2)}`;
  };
  return all.map(
    ([name]) =>
      `| ${traffic.name} | ${texts.length} | ${name} | ${cells(inTurns, name)} | ${cells(alternating, name)} |`,
  );
}

const sweep = textsOf(readFileSync("examples/data/h200/sweep.xtrack.bin"));
const traffics: readonly Traffic[] = [
  {
    name: "Cirron, H200 training",
    texts: readFiles("examples/data/h200/cirron-stats/.cirron/spool/*.json"),
    isCirron: true,
  },
  { name: "Cirron, small batches", texts: readFiles("tests/fixtures/cirron/*/.cirron/spool/*.json"), isCirron: true },
  { name: "XTrack, H200 sweep", texts: sweep, isCirron: false },
  {
    name: "XTrack, H200 training",
    texts: textsOf(readFileSync("examples/data/h200/cirron-twin.xtrack.bin")),
    isCirron: false,
  },
];

const lines = [
  "# JSON",
  "",
  `\`node bench/json.ts\` on ${describeMachine()}.`,
  "MiB per second of processor time (all threads), from the median of 40 or more rounds, beside `JSON.parse` of the same bytes (decoded to",
  "a string first, as a server must): once with the readers in turns of 20 rounds, once alternating after every round.",
  "Ratios are to `JSON.parse` under the same schedule. `decodeBatch` ends in typed columns, ready for the store; the others end in objects or nothing.",
  "",
  "| traffic | texts | reader | MiB/s, turns | JSON.parse = 1 | MiB/s, alternating | JSON.parse = 1 |",
  "| --- | ---: | --- | ---: | ---: | ---: | ---: |",
  ...traffics.flatMap(measure),
  "",
];
await savePage("json", lines.join("\n"));
