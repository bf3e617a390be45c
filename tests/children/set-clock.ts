// Preloaded into a server whose clock is to jump: the time of day is off by the seconds that a file says, which is looked at
// again and again. Waits last as long as they did, since it is the time of day that people set.

import { readFileSync } from "node:fs";

const path = process.env["CHAOS_CLOCK"] as string;
const lookMs = 200;
// Nobody on the server makes a time of its parts.
const Real = Date;
let offMs = 0;

function look(): void {
  try {
    offMs = Number(readFileSync(path, "utf8")) * 1000;
  } catch {
    // Opening files is among what is made to fail; it is looked at again soon.
  }
}

class SetDate extends Real {
  constructor(given: number | string | Date = Real.now() + offMs) {
    super(given);
  }

  static override now(): number {
    return Real.now() + offMs;
  }
}

look();
setInterval(look, lookMs).unref();
globalThis.Date = SetDate as unknown as DateConstructor;
