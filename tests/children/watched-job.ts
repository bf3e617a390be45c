// A small training that goes wrong as it is told to, and that stops when it is asked to:
//   watched-job.ts <mode> <run> <worker> <port> <steps>
// Modes: healthy, nan (no loss is finite from step 40 on), stall (no step after 40), slow (its steps take three times as
// long as those of others, by its own watch). Exits with 7 when it was stopped by a command.

import { setTimeout as sleep } from "node:timers/promises";
import { startRun } from "#emit/xtrack.ts";

const [, , mode = "", id = "", workerId = "", port = "", steps = "0"] = process.argv;
const transport = { kind: "tcp", host: "127.0.0.1", port: Number(port) } as const;
const run = startRun({ id, workerId, transport, source: false, env: false });
let isStopped = false;
let saved = 0;
run.on("stop", () => {
  isStopped = true;
});
run.on("checkpoint_now", () => {
  saved++;
  run.checkpoint({ step: saved, path: `/tmp/${id}-${saved}` });
});

run.status("training");
for (let step = 0; step < Number(steps) && !isStopped; step++) {
  const loss = mode === "nan" && step >= 40 ? Number.NaN : 4 / (1 + step / 20);
  run.metricBatch({ loss, step_time: mode === "slow" ? 0.03 : 0.01 }, { step });
  await sleep(10);
  while (mode === "stall" && step === 40 && !isStopped) await sleep(50);
}
await run.end({ status: isStopped ? "killed" : "completed", timeoutMs: 10_000 });
process.exitCode = isStopped ? 7 : 0;
