// Three trainings of the bundled sweep: a whole one, one that diverges and one that fails. The others are like the first,
// and every one of them costs each question for all runs its part.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const sweep = join(import.meta.dirname, "../../examples/data/h200/sweep.xtrack.bin");

/** XTrack frames. The trainings stand one behind the other. */
export function readFewOfSweep(): Buffer {
  const bytes = readFileSync(sweep);
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32BE(at))
    if (bytes.toString("latin1", at + 4, at + 40).includes('"run_start"')) starts.push(at);
  return bytes.subarray(starts.at(-3));
}
