// What a follower was told of a run's points and lines, and what it was not.

import type { LiveEvent } from "#api/contract/live.ts";
import type { Run } from "#api/contract/run.ts";
import { formatCount } from "#cli/format.ts";

export interface Tally {
  take(event: LiveEvent): void;
  /** A sentence on what was left out; '' if nothing was. */
  missed(last: Run): string;
}

/** `run` is what was known before the first event. */
export function createTally({ counts: before }: Run): Tally {
  let points = before.points;
  let lines = before.logs;
  let isComplete = true;
  return {
    take(event) {
      if (event.name === "metrics") points += event.data.key.length;
      if (event.name === "logs") lines += event.data.logs.length;
      if (event.name === "skipped") isComplete = false;
    },
    missed({ id, counts }) {
      const left = [
        counts.points > points ? formatCount(counts.points - points, "point") : "",
        counts.logs > lines ? formatCount(counts.logs - lines, "line") : "",
      ].filter((part) => part !== "");
      if (isComplete || left.length === 0) return "";
      return `Not shown above: ${left.join(" and ")}. tributary export ${id} has everything.`;
    },
  };
}
