import { expect, it } from "vitest";
import { encodeFrame } from "#wire/xtrack/encode.ts";
import { frameOf, gather, join } from "#wire/xtrack/stream-cases.ts";
import { encodeAcks } from "./acks.ts";
import { XtrackStream } from "./stream.ts";

it("acks every event by its sequence number, refused ones with the reason, and no acks or commands [XT-19]", () => {
  const stream = new XtrackStream();
  const chunk = stream.push(
    join(
      encodeFrame("run_start", { seq: 1, ts: 5, wid: "w" }, { run_id: "é" }),
      encodeFrame("ack", { seq: 1, ts: 5, wid: "w" }, { seq: 9, status: "ok", cmd_id: "c" }),
      frameOf('{"v":1,"t":"metric","m":{"seq":2,"ts":6,"wid":"w"},"p":{"run_id":"é","value":1}}'),
      frameOf('{"v":1,"t":"metric","m":{"seq":9007199254740993,"ts":6},"p":{"run_id":"é","key":"k","value":1}}'),
    ),
  );
  if (chunk === null) throw new Error("no chunk");
  const counter = { seq: 10 };
  const { frames, skipped } = gather(encodeAcks(chunk.decoded, counter, 77));
  expect(skipped).toEqual([]);
  expect(frames).toEqual([
    '{"v":1,"t":"ack","m":{"seq":11,"ts":77},"p":{"seq":1,"status":"ok","error":null,"run_id":"é","wid":"w"}}',
    '{"v":1,"t":"ack","m":{"seq":12,"ts":77},"p":{"seq":9007199254740993,"status":"ok","error":null,"run_id":"é"}}',
    '{"v":1,"t":"ack","m":{"seq":13,"ts":77},"p":{"seq":2,"status":"error","error":"xtrack_missing_field: p.key is required and missing","run_id":"é","wid":"w"}}',
  ]);
  expect(counter.seq).toBe(13);
});
