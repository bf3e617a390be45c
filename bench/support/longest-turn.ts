// Loaded into a server with `--import`: the processor time of the longest stretch that its main thread worked without
// a break, which everyone else waits for. It answers on the socket at TURN_SOCKET; each answer starts a new measurement.

import { createServer } from "node:net";

let longestUs = 0;
/** When the longest stretch began and ended, on the clock of processor profiles. */
let span: readonly [number, number] = [0, 0];

function usedUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

const clockUs = (): number => Number(process.hrtime.bigint() / 1000n);

let [before, beganUs] = [usedUs(), clockUs()];

// A timer of no time comes once in every turn of the event loop, and not more often than each millisecond.
setInterval(() => {
  const [now, nowUs] = [usedUs(), clockUs()];
  if (now - before > longestUs) {
    longestUs = now - before;
    span = [beganUs, nowUs];
  }
  before = now;
  beganUs = nowUs;
}, 0).unref();

const path = process.env["TURN_SOCKET"];
if (path !== undefined)
  createServer((socket) => {
    socket.end(JSON.stringify({ longestMs: longestUs / 1000, span }));
    longestUs = 0;
  })
    .listen(path)
    .unref();
