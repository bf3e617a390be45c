// The very first plan of a folder: killed before the store has taken it, the next start sends it, and knows what is in it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { Victim } from "../chaos/victim.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { makeFolder } from "../support/folder.ts";
import { eventually } from "../support/several.ts";

const trace = "../fixtures/semantiva/rs_combinatorial_file/run_space_demo.trace.jsonl";
const frames = Array.from({ length: 50 }, (_, at) =>
  encodeFrame("metric", { seq: at + 1, ts: at + 1, wid: "w" }, { run_id: "first", key: "loss", value: at, step: at }),
);
const spans = Array.from({ length: 20 }, (_, at) => ({ id: `span ${at}`, parent: null, name: "step", at }));
const bodies = [
  { path: "/v1/xtrack", type: "application/octet-stream", body: Buffer.concat(frames) },
  {
    path: "/v1/trace-stream",
    type: "application/x-ndjson",
    body: readFileSync(join(import.meta.dirname, trace)),
  },
  { path: "/v1/traces", type: "application/json", body: Buffer.from(toBatchText("batch", spans)) },
];

test("what is sent again after it is a copy, though the store was empty at the start", async () => {
  const dataDir = makeFolder();
  const victim = await Victim.create(dataDir);
  const send = () =>
    Promise.all(
      bodies.map(async ({ path, type, body }) => {
        const answer = await fetch(`${victim.url}${path}`, { method: "POST", body, headers: { "content-type": type } });
        expect(answer.status).toBe(202);
      }),
    );
  /** What each protocol's records came to since the start: `[new, known]`. */
  const taken = async () => {
    const text = await (await fetch(`${victim.url}/metrics`)).text();
    const count = (name: string, protocol: string) =>
      Number(
        new RegExp(`^tributary_records_${name}_total\\{protocol="${protocol}"\\} (\\d+)`, "m").exec(text)?.[1] ?? 0,
      );
    return ["xtrack", "semantiva", "cirron"].map((name) => [count("accepted", name), count("duplicate", name)]);
  };
  const isPlanned = () => readdirSync(join(dataDir, "outbox")).some((name) => name.endsWith(".plan"));
  try {
    await victim.start();
    victim.signal("engine", "SIGSTOP");
    await send();
    await eventually(async () => (await taken()).every(([accepted]) => accepted !== 0), "not all were taken");
    const first = await taken();
    await eventually(isPlanned, "no plan was made");
    victim.signal("engine", "SIGKILL");
    await victim.end("SIGKILL");
    await victim.start();
    await send();
    await fetch(`${victim.url}/readyz?drained=1`);
    expect(await taken()).toEqual(first.map(([accepted]) => [0, accepted]));
  } finally {
    await victim.remove();
  }
});
