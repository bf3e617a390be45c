// Preloaded into a server whose time is to be another: a file says by how many seconds its time of day is off, and how many
// times as fast its time goes by; it is looked at again and again. A jump leaves waits as long as they were, since it is the
// time of day that people set. Time that goes by faster also shortens the pauses between two tries, which are all awaited
// by `sleep`; how long an answer may take stays as it is, because answers do not come faster.

import { readFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import type * as timersPromises from "node:timers/promises";

const path = process.env["CHAOS_CLOCK"] as string;
const lookMs = 200;
// Nobody on the server makes a time of its parts.
const Real = Date;
let offMs = 0;
let rate = 1;
let sinceMs = Real.now();
let read = "";

function look(): void {
  try {
    const text = readFileSync(path, "utf8");
    if (text === read || text === "") return;
    read = text;
    const [seconds = 0, times = 1] = text.split(" ").map(Number);
    offMs = seconds * 1000;
    rate = times;
    sinceMs = Real.now();
  } catch {
    // Opening files is among what is made to fail; it is looked at again soon.
  }
}

function now(): number {
  const real = Real.now();
  return Math.floor(real + offMs + (real - sinceMs) * (rate - 1));
}

class SetDate extends Real {
  constructor(given: number | string | Date = now()) {
    super(given);
  }

  static override now(): number {
    return now();
  }
}

type Sleep = typeof timersPromises.setTimeout;
const timers = createRequire(import.meta.url)("node:timers/promises") as { setTimeout: Sleep };
const sleep = timers.setTimeout;
timers.setTimeout = ((ms = 1, ...rest) => sleep(ms / rate, ...rest)) as Sleep;
syncBuiltinESMExports();

look();
setInterval(look, lookMs).unref();
globalThis.Date = SetDate as unknown as DateConstructor;
