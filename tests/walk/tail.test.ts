// A run that is followed to its end: what came just before it, while nothing says that it is over, and over restarts of
// the server.

import { expect, it } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { testApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";
import { freePort } from "../support/free-port.ts";

const frame = (type: string, seq: number, more = {}) =>
  toFrame({ type, seq, ts: Date.now() * 1000 + seq, payload: { run_id: "followed", ...more } });
const point = (seq: number, value: number) => frame("metric", seq, { key: "loss", value, step: seq });
const line = (seq: number, msg: string) => frame("log", seq, { level: "error", msg });

async function startApp() {
  const flags = { httpAddress: `127.0.0.1:${await freePort()}`, runSilenceMs: "10m" };
  const app = await testApp(flags);
  const send = (...frames: Uint8Array[]) => app.post("/v1/xtrack?wait=1", Buffer.concat(frames));
  const followers = () => app.app.collector.hub.subscriberCount;
  const isFollowed = () => expect.poll(followers, { timeout: 20_000 }).toBe(1);
  await send(frame("run_start", 1));
  const tail = (...options: string[]) => runInTest(["tail", "followed", ...options, "--server", app.app.url]);
  return { app, flags, send, isFollowed, tail };
}

it("tail ends with a run that is lost, which is no success", async () => {
  const app = await testApp({ runSilenceMs: "2s" });
  await app.post("/v1/xtrack?wait=1", frame("run_start", 1));
  const { code, out } = await runInTest(["tail", "followed", "--server", app.app.url]);
  expect([code, out]).toEqual([1, expect.stringMatching(/^followed (running\nlost|lost)\n$/)]);
});

it("tail of a run that was over before says how it ended and leaves", async () => {
  const { send, tail } = await startApp();
  await send(frame("run_end", 2, { status: "failed" }));
  expect(await tail()).toMatchObject({ code: 1, out: "followed failed\n" });
});

it("tail tells all that came before the end, and then the end", async () => {
  const { send, isFollowed, tail } = await startApp();
  const tailed = tail();
  await isFollowed();
  for (let seq = 2; seq < 40; seq += 2) await send(point(seq, seq / 100), line(seq + 1, `at ${seq}`));
  await send(frame("run_end", 40, { status: "failed" }));
  const { code, out } = await tailed;
  const told = out.trimEnd().split("\n");
  expect([code, told.length, told[0], told.at(-1)]).toEqual([1, 40, "followed running", "failed"]);
  expect(told.slice(-3, -1)).toEqual(["step 38  loss 0.38", "error at 38"]);
});

it("tail goes on when the server does, with what came before it was back", async () => {
  const { app, send, tail, isFollowed } = await startApp();
  const tailed = tail();
  await isFollowed();
  await app.reopen();
  // Told of as soon as the stream is open again, at the latest then.
  await send(point(2, 0.25), frame("run_end", 3, { status: "failed" }));
  const { code, out, err } = await tailed;
  expect([code, err]).toEqual([1, "The server is away; waiting for it.\n"]);
  expect(out).toBe("followed running\nstep 2  loss 0.25\nfailed\n");
});

it("tail tells what came while it was away, also when the server no longer has it at hand", async () => {
  const { app, flags, send, tail, isFollowed } = await startApp();
  const tailed = tail();
  await isFollowed();
  const address = flags.httpAddress;
  flags.httpAddress = "127.0.0.1:0";
  await app.reopen();
  await send(point(2, 0.25), point(3, 0.125), line(4, "missed"));
  flags.httpAddress = address;
  await app.reopen();
  await isFollowed();
  await send(point(5, 0.5), frame("run_end", 6, { status: "completed" }));
  const { code, out } = await tailed;
  expect(code).toBe(0);
  expect(out.split("\n")).toEqual([
    "followed running",
    "step 2  loss 0.25",
    "step 3  loss 0.125",
    "error missed",
    "step 5  loss 0.5",
    "completed",
    "",
  ]);
});

it("tail in JSON has nothing else on its output, and the status at the end", async () => {
  const { send, isFollowed, tail } = await startApp();
  const tailed = tail("--json");
  await isFollowed();
  await send(point(2, 0.25), frame("run_end", 3, { status: "completed" }));
  const { code, out } = await tailed;
  const events = out
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text) as { name: string; data: object });
  expect(code).toBe(0);
  expect(events.filter(({ name }) => name === "metrics")).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ name: "run", data: { id: "followed", status: "completed" } });
});
