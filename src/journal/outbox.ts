// Plans on their way to the store: one durable file each, named by the last journal record it covers, and a
// small file that says how far the store has got. The position is made durable before a plan is removed, so
// a plan that is found and lies beyond the position was not wholly sent.

import { join } from "node:path";
import { readDurable, writeDurably } from "./durable-file.ts";
import { type Files, nodeFiles } from "./files.ts";

export interface OpenPlan {
  /** The last journal record in it. */
  readonly to: number;
  readonly bytes: Uint8Array;
}

export interface PlanOutbox {
  /** Writes the parts one after the other. */
  save(to: number, parts: readonly Uint8Array[]): Promise<void>;
  /** Plans that were not finished, in order. */
  open(): Promise<OpenPlan[]>;
  /** Makes `to` the position, then removes its plan. */
  finish(to: number): Promise<void>;
  /** The last record that is wholly in the store. */
  position(): Promise<number>;
}

const planName = /^(\d{16})\.plan$/;

export async function createOutbox(dir: string, files: Files = nodeFiles): Promise<PlanOutbox> {
  await files.makeFolder(dir);
  const planPath = (to: number): string => join(dir, `${String(to).padStart(16, "0")}.plan`);
  const positionPath = join(dir, "position");
  return {
    save: (to, parts) => writeDurably(files, planPath(to), parts),
    async open() {
      const numbers = (await files.list(dir)).flatMap((name) => {
        const match = planName.exec(name);
        return match === null ? [] : [Number(match[1])];
      });
      const plans: OpenPlan[] = [];
      for (const to of numbers.sort((a, b) => a - b)) {
        const bytes = await readDurable(files, planPath(to));
        // A damaged plan cannot be sent again; its records are still in the journal and make a new one.
        if (bytes !== undefined) plans.push({ to, bytes });
      }
      return plans;
    },
    async finish(to) {
      await writeDurably(files, positionPath, [new TextEncoder().encode(String(to))]);
      await files.unlink(planPath(to)).catch(ignoreMissing);
    },
    async position() {
      const bytes = await readDurable(files, positionPath);
      return bytes === undefined ? 0 : Number(new TextDecoder().decode(bytes));
    },
  };
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
