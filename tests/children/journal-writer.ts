// Appends to the journal in a folder from several writers at once, and says on stdout, one line for each, what was
// acknowledged. It goes on until someone kills it.

import { writeSync } from "node:fs";
import { createJournal } from "#journal/journal.ts";

const [dir = "", life = ""] = process.argv.slice(2);
const journal = await createJournal({ dir, segmentBytesMax: 32 * 1024, budgetBytes: 1024 ** 3 });
let next = 0;

async function write(): Promise<never> {
  for (;;) {
    const word = `${life}.${next++}`;
    const position = await journal.append([Buffer.from(word), Buffer.alloc((next * 37) % 900, " ")]);
    writeSync(1, `${position} ${word}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, write));
