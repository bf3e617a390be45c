// How far a run is, below what it prints.

import { SingleBar } from "cli-progress";
import type { Run } from "#api/contract/run.ts";
import type { Context } from "#cli/context.ts";
import { toPlainText } from "#cli/table.ts";

export interface Bar {
  update(run: Run): void;
  /** Takes the bar off the screen while a line is printed. */
  aside(write: () => void): void;
  stop(): void;
}

/** Only for people who look on. */
export function createBar(context: Context): Bar | undefined {
  if (context.stderr.isTTY !== true || context.stdout.isTTY !== true) return undefined;
  const stream = context.stderr as unknown as NodeJS.WritableStream;
  const bar = new SingleBar({ format: "{bar} {percentage}% {message}", stream, clearOnComplete: true });
  let started = false;
  return {
    update({ progress }) {
      if (progress === null || typeof progress.current !== "number" || typeof progress.total !== "number") return;
      const fields = { message: toPlainText(progress.message) };
      if (!started) bar.start(progress.total, progress.current, fields);
      else {
        bar.setTotal(progress.total);
        bar.update(progress.current, fields);
      }
      started = true;
    },
    aside(write) {
      if (started) context.stderr.write("\r\u001b[K");
      write();
    },
    stop: () => bar.stop(),
  };
}
