// How fast the journal takes records when 1, 16 or 64 writers each wait for their own acknowledgement.
// Usage: node bench/journal.ts [--save]   (--save rewrites bench/results/journal.md)

import { createJournal } from "#journal/journal.ts";
import { inFolder } from "./support/folder.ts";
import { describeMachine, quantile } from "./support/server.ts";
import { savePage } from "./support/words.ts";

const secondsEach = 1.2;
const mebibyte = 1024 * 1024;

/** A row of the page. */
async function measure(dir: string, writers: number, recordBytes: number): Promise<string> {
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
  const cells = [
    recordBytes,
    writers,
    Math.round(latencies.length / seconds),
    ((latencies.length * recordBytes) / mebibyte / seconds).toFixed(1),
    quantile(latencies, 0.5).toFixed(2),
    quantile(latencies, 0.99).toFixed(2),
    Math.round(fsyncs / seconds),
  ];
  return `| ${cells.join(" | ")} |`;
}

await inFolder((dir) => measure(dir, 16, 1024));
const lines = [
  "| record bytes | writers | appends/s | MiB/s | p50 ms | p99 ms | syncs/s |",
  "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
];
for (const recordBytes of [256, 65_536]) {
  for (const writers of [1, 16, 64]) lines.push(await inFolder((dir) => measure(dir, writers, recordBytes)));
}
await savePage(
  "journal",
  `# Journal\n\n\`node bench/journal.ts\` on ${describeMachine()}. Every append waits for its own fdatasync.\n\n${lines.join("\n")}\n`,
);
