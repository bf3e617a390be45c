// Plans on their way to the store: one durable file each, named by the last journal record in it, and a small file that
// says how far the store has got. The position is durable before a plan is removed, so a plan beyond the position was
// not sent completely.
//
// The large blocks of a plan lie in files beside it, `<number>.<name>.block`, and are durable before the plan is.

import { join } from "node:path";
import { toOutage } from "#base/disk-outage.ts";
import { readDurable, readFile, writeDurably, writeSynced } from "#base/durable-file.ts";
import { type Files, nodeFiles } from "#base/files.ts";
import type { EncodedPlan } from "./plan.ts";

export interface OpenPlan {
  /** The last journal record in it. */
  readonly to: number;
  /** Undefined when the file is damaged. */
  readonly bytes: Uint8Array | undefined;
  /** One of its files; undefined when it is not there. */
  readFile(name: string): Promise<Uint8Array | undefined>;
}

export interface Outbox {
  save(to: number, plan: EncodedPlan): Promise<void>;
  /** The path of a file of a plan. */
  pathOf(to: number, name: string): string;
  /** Plans that were not finished, in order. */
  open(): Promise<OpenPlan[]>;
  /** Makes `to` the position, then removes its plan. */
  finish(to: number): Promise<void>;
  /** Removes a plan that is not to be sent. */
  discard(to: number): Promise<void>;
  /** Leaves only the fact that there was a plan: it counts as damaged from then on. Needs no room on the disk. */
  spoil(to: number): Promise<void>;
  /** The last record that is completely stored; null if the file that says so is damaged. */
  position(): Promise<number | null>;
}

const planName = /^(\d{16})\.plan$/;
const blockName = /^(\d{16})\.(\w+)\.block$/;

export async function createOutbox(dir: string, files: Files = nodeFiles): Promise<Outbox> {
  await files.makeFolder(dir);
  const numberOf = (to: number): string => String(to).padStart(16, "0");
  const planPath = (to: number): string => join(dir, `${numberOf(to)}.plan`);
  const pathOf = (to: number, name: string): string => join(dir, `${numberOf(to)}.${name}.block`);
  const positionPath = join(dir, "position");
  /** The paths of the files of each plan. */
  const besides = new Map<number, string[]>();
  const remove = (path: string): Promise<void> => files.unlink(path).catch(ignoreMissing);
  const removeFiles = async (to: number): Promise<void> => {
    for (const path of besides.get(to) ?? []) await remove(path);
    besides.delete(to);
  };
  const discard = async (to: number): Promise<void> => {
    await remove(planPath(to));
    await removeFiles(to);
  };
  return {
    async save(to, plan) {
      besides.set(
        to,
        plan.files.map(({ name }) => pathOf(to, name)),
      );
      const written = plan.files.map(({ name, bytes }) => writeSynced(files, pathOf(to, name), [bytes]));
      // Waits for all of them: after a failure everything is written again.
      for (const outcome of await Promise.allSettled(written))
        if (outcome.status === "rejected") throw toOutage("A block could not be made durable.", outcome.reason);
      // This syncs the folder for the names of all files.
      await writeDurably(files, planPath(to), plan.parts);
    },
    pathOf,
    async open() {
      const names = await files.list(dir);
      for (const name of names) {
        const match = blockName.exec(name);
        if (match === null) continue;
        const to = Number(match[1]);
        besides.set(to, [...(besides.get(to) ?? []), join(dir, name)]);
      }
      const numbers = names.flatMap((name) => {
        const match = planName.exec(name);
        return match === null ? [] : [Number(match[1])];
      });
      // The process that wrote the last plan may have ended before its name was durable, and nothing may be sent before
      // that.
      if (numbers.length > 0) await files.syncFolder(dir);
      const plans: OpenPlan[] = [];
      for (const to of numbers.sort((a, b) => a - b)) {
        const bytes = await readDurable(files, planPath(to));
        plans.push({ to, bytes, readFile: (name) => readFile(files, pathOf(to, name)) });
      }
      // Files of a plan that was never written.
      for (const to of [...besides.keys()]) if (!numbers.includes(to)) await discard(to);
      return plans;
    },
    async finish(to) {
      await writeDurably(files, positionPath, [new TextEncoder().encode(String(to))]);
      await discard(to);
    },
    discard,
    async spoil(to) {
      await emptyFile(files, planPath(to));
      await removeFiles(to);
    },
    async position() {
      const bytes = await readDurable(files, positionPath);
      if (bytes !== undefined) return Number(new TextDecoder().decode(bytes));
      return (await files.list(dir)).includes("position") ? null : 0;
    },
  };
}

async function emptyFile(files: Files, path: string): Promise<void> {
  try {
    const file = await files.open(path, "update");
    try {
      await file.truncate(0);
      await file.fdatasync();
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw toOutage("A plan could not be given up.", cause);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
