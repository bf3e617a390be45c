import { describe, expect, it } from "vitest";
import { type Sniffed, Sniffer } from "./sniff.ts";

const frame = (value: unknown) => {
  const json = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(json.length);
  return Buffer.concat([prefix, json]);
};

/** Pushes the bytes whole and byte by byte; both must find the same, and nothing may be lost. */
function sniff(bytes: Uint8Array): { key: string; rest: string } {
  const results = [bytes.length, 1].map((size) => {
    const sniffer = new Sniffer();
    let found: Sniffed | undefined;
    let at = 0;
    while (found === undefined && at < bytes.length) {
      found = sniffer.push(bytes.slice(at, at + size));
      at += size;
    }
    const { key, rest } = found ?? sniffer.finish();
    return { key, rest: Buffer.concat([rest, bytes.subarray(at)]).toString("latin1") };
  });
  expect(results[1]).toEqual(results[0]);
  return results[0] as { key: string; rest: string };
}

const event = frame({ v: 1, t: "run_start", m: { seq: 1, ts: 1 }, p: { run_id: "r" } });
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

describe("the first bytes of a connection", () => {
  it("are a key when they are a line of text, with or without a carriage return", () => {
    expect(sniff(Buffer.concat([Buffer.from("trib_abc\n"), event]))).toEqual({ key: "trib_abc", rest: text(event) });
    expect(sniff(Buffer.concat([Buffer.from("trib_abc\r\n"), event]))).toEqual({ key: "trib_abc", rest: text(event) });
  });

  it("are no key when the line does not end within 256 bytes", () => {
    const longest = Buffer.from(`${"k".repeat(255)}\n`);
    expect(sniff(longest)).toEqual({ key: "k".repeat(255), rest: "" });
    const tooLong = Buffer.from(`${"k".repeat(256)}\n`);
    expect(sniff(tooLong)).toEqual({ key: "", rest: text(tooLong) });
  });

  it("are a key when they are an auth frame, and the key does not stay in the stream", () => {
    const auth = frame({ v: 1, t: "auth", m: { seq: 0, ts: 1 }, p: { key: "trib_\u00e9" } });
    expect(sniff(Buffer.concat([auth, event]))).toEqual({ key: "trib_\u00e9", rest: text(event) });
  });

  it("are no key when the auth frame has none, but the frame is taken out all the same", () => {
    const auth = frame({ v: 1, t: "auth", m: {}, p: {} });
    expect(sniff(Buffer.concat([auth, event]))).toEqual({ key: "", rest: text(event) });
  });

  it.each([
    ["an event", event],
    ["an event that only speaks of auth", frame({ v: 1, t: "log", p: { msg: '"auth"' } })],
    ["no JSON", frame('{"t":"auth"')],
    ["a frame with a long payload", frame({ t: "run_start", p: "x".repeat(5000) })],
    ["an empty frame", frame("")],
    ["a torn prefix", Buffer.from([0, 0])],
    ["a torn frame", event.subarray(0, 30)],
    ["a line that never ends", Buffer.from("hello")],
  ])("are left to the framer when they are %s", (_, bytes) => {
    expect(sniff(bytes)).toEqual({ key: "", rest: text(bytes) });
  });
});
