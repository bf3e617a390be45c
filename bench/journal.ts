// How fast the journal takes records when 1, 16 or 64 writers each wait for their own acknowledgement.
// Usage: node bench/journal.ts [--save]   (--save rewrites bench/results/journal.md)

import { createJournal } from "#journal/journal.ts";
import { inFolder } from "./support/folder.ts";
import { describeMachine, quantile } from "./support/server.ts";
import { savePage } from "./support/words.ts";

const secondsEach = 1.2;
const mebibyte = 1024 * 1024;

interface Result {
  readonly writers: number;
  readonly recordBytes: number;
  readonly appendsPerSecond: number;
  readonly mebibytesPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly fsyncsPerSecond: number;
}

async function measure(dir: string, writers: number, recordBytes: number): Promise<Result> {
  const journal = await createJournal({ dir, budgetBytes: 16 * 1024 * mebibyte });
  const payload = new Uint8Array(recordBytes).fill(0x61);
  const latencies: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + secondsEach * 1000;
  const write = async () => {
    let beganMs = performance.now();
    while (beganMs < endMs) {
      const position = await journal.append(payload);
      if (typeof position === "string") throw new Error(position);
      const nowMs = performance.now();
      latencies.push(nowMs - beganMs);
      beganMs = nowMs;
      if (position % 1024 === 0) void journal.truncateBefore(position);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  const seconds = (performance.now() - startMs) / 1000;
  const { fsyncs } = journal.state();
  await journal.close();
  return {
    writers,
    recordBytes,
    appendsPerSecond: latencies.length / seconds,
    mebibytesPerSecond: (latencies.length * recordBytes) / mebibyte / seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    fsyncsPerSecond: fsyncs / seconds,
  };
}

await inFolder((dir) => measure(dir, 16, 1024));
const lines = [
  "| record bytes | writers | appends/s | MiB/s | p50 ms | p99 ms | syncs/s |",
  "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
];
for (const recordBytes of [256, 65_536]) {
  for (const writers of [1, 16, 64]) {
    const result = await inFolder((dir) => measure(dir, writers, recordBytes));
    lines.push(
      `| ${recordBytes} | ${writers} | ${Math.round(result.appendsPerSecond)} | ${result.mebibytesPerSecond.toFixed(1)} | ` +
        `${result.p50Ms.toFixed(2)} | ${result.p99Ms.toFixed(2)} | ${Math.round(result.fsyncsPerSecond)} |`,
    );
  }
}
await savePage(
  "journal",
  `# Journal\n\n\`node bench/journal.ts\` on ${describeMachine()}. Every append waits for its own fdatasync.\n\n${lines.join("\n")}\n`,
);
