import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClient } from "#cli/client.ts";
import { runInTest } from "#cli/run-cli.testing.ts";
import type { Input } from "#intake/input.ts";
import { lineInputs, type SemantivaLinesInput } from "#intake/semantiva/lines-input.ts";
import { frameInputs, type XtrackFramesInput } from "#intake/xtrack/frames-input.ts";
import { type OpenServer, openServer } from "#server/http/open-server.testing.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { decodeXtrack } from "#wire/xtrack/stream.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { importPaths } from "./import.ts";

const fixtures = new URL("../../../tests/fixtures/", import.meta.url).pathname;
let server: OpenServer;
let folder: string;
beforeEach(async () => {
  folder = makeFolder();
  server = await openServer();
});
afterEach(async () => {
  await server.close();
});

function importNow(paths: string[], more: Partial<Parameters<typeof importPaths>[0]> = {}) {
  const client = createClient(server.url, "");
  const stop = new AbortController().signal;
  return importPaths({ client, paths, speed: "instant", follow: false, stop, ...more });
}

const bytesOf = (inputs: readonly Input[]) => Buffer.concat(inputs.map(({ body }) => Buffer.from(body)));
const isFrames = (input: Input): input is XtrackFramesInput => input.kind === frameInputs.kind;
const offsetOf = (input: Input) => (input as XtrackFramesInput | SemantivaLinesInput).offset;
const metric = (seq: number, tsUs = seq) =>
  encodeFrame("metric", { seq, ts: tsUs }, { run_id: "r", key: "loss", value: seq, step: seq } as never);
const start = encodeFrame("run_start", { seq: 1, ts: 1 }, { run_id: { id: "r", exp_id: null } } as never);

const batch = (id: string) =>
  `{"schema_version":1,"sdk_version":"1","batch_id":"${id}","created_ns":1,"spans":[],"marks":[],"snapshots":[]}`;

describe("a spool", () => {
  it("is sent file by file as it lies there, blobs first, all from one source [CT-01]", async () => {
    const result = await importNow([join(fixtures, "cirron/torch_full")]);
    const spool = join(fixtures, "cirron/torch_full/.cirron");
    expect(server.inputs.length).toBe(result.batches);
    expect(server.blobs.length).toBe(result.blobs);
    expect(result.blobs).toBeGreaterThan(0);
    expect(new Set([...server.inputs, ...server.blobs.map(({ put }) => put)].map(({ source }) => source))).toEqual(
      new Set([`folder:${spool}`]),
    );
    expect(server.inputs.every(({ imported, transport }) => imported && transport === "file")).toBe(true);
    expect(server.blobs[0]?.put.key).toMatch(/^snapshots\/[0-9a-f]{32}\/(weights|gradients)\.safetensors$/);
  });

  it("is read in the order of its names, and files that are still being written are not [CT-02, CT-03]", async () => {
    const spool = join(folder, ".cirron", "spool");
    mkdirSync(spool, { recursive: true });
    const name = (at: number) => `${String(at).padStart(20, "0")}-${"a".repeat(31)}${at}.json`;
    for (const at of [3, 1, 2]) writeFileSync(join(spool, name(at)), batch(`b${at}`));
    writeFileSync(join(spool, `${name(4)}.tmp`), '{"batch_id":"half');
    const result = await importNow([folder]);
    expect(result).toMatchObject({ files: 3, batches: 3, unknown: [] });
    expect(bytesOf(server.inputs).toString()).toBe(batch("b1") + batch("b2") + batch("b3"));
  });

  it("is followed: new files are taken once they have their name", async () => {
    const spool = join(folder, "spool");
    mkdirSync(spool);
    const stop = new AbortController();
    const following = importNow([folder], { follow: true, stop: stop.signal });
    const file = join(spool, `${"1".padStart(20, "0")}-${"b".repeat(32)}.json`);
    writeFileSync(`${file}.tmp`, batch("late"));
    writeFileSync(file.replace("0001-", "0002-"), batch("early"));
    await expect.poll(() => server.inputs.length, { timeout: 5000 }).toBe(1);
    renameSync(`${file}.tmp`, file);
    await expect.poll(() => server.inputs.length, { timeout: 5000 }).toBe(2);
    stop.abort();
    expect(await following).toMatchObject({ batches: 2 });
    expect(bytesOf(server.inputs).toString()).toBe(batch("early") + batch("late"));
    expect(server.inputs[0]?.imported).toBe(false);
  });

  it("goes on after a file that is no batch, and says which", async () => {
    const bad = join(folder, `${"1".padStart(20, "0")}-${"c".repeat(32)}.json`);
    writeFileSync(bad, "{torn");
    writeFileSync(bad.replace("0001-", "0002-"), batch("good"));
    const result = await importNow([folder]);
    expect(result).toMatchObject({ batches: 1, faultCount: 1, faults: [{ file: bad, code: "json_syntax" }] });
  });
});

describe("an XTrack file", () => {
  it("is sent in whole frames that are the file again when put together", async () => {
    const file = join(fixtures, "xtrack/file_full/events.bin");
    await importNow([file]);
    expect(bytesOf(server.inputs).equals(readFileSync(file))).toBe(true);
    expect(server.inputs[0]).toMatchObject({ kind: "xtrack_frames", file, offset: 0, currentRun: null });
  });

  it("is cut between frames, and says which run was under way at each cut", async () => {
    const file = join(folder, "big.bin");
    const frames = [start, ...Array.from({ length: 60_000 }, (_, at) => metric(at + 2))];
    writeFileSync(file, Buffer.concat(frames));
    await importNow([file]);
    const parts = [...server.inputs].sort((a, b) => offsetOf(a) - offsetOf(b));
    expect(parts.length).toBeGreaterThan(1);
    expect(bytesOf(parts).equals(readFileSync(file))).toBe(true);
    expect(parts.map((part) => (isFrames(part) ? part.currentRun : ""))).toEqual([
      null,
      ...parts.slice(1).map(() => "r"),
    ]);
    for (const part of parts) expect(Buffer.from(part.body).readUInt32BE(0)).toBeLessThan(1000);
  });

  it("knows a run by its start also where the start's type stands behind a large payload", async () => {
    const file = join(folder, "sorted.bin");
    const tags = { note: "x".repeat(500) };
    const sorted = Buffer.from(
      JSON.stringify({ m: { seq: 1, ts: 1 }, p: { run_id: "r", tags }, t: "run_start", v: 1 }),
    );
    const length = Buffer.alloc(4);
    length.writeUInt32BE(sorted.length);
    writeFileSync(file, Buffer.concat([length, sorted, ...Array.from({ length: 60_000 }, (_, at) => metric(at + 2))]));
    await importNow([file]);
    const parts = [...server.inputs].sort((a, b) => offsetOf(a) - offsetOf(b));
    expect(parts.slice(1).map((part) => isFrames(part) && part.currentRun)).toEqual(parts.slice(1).map(() => "r"));
  });

  it("may be captured output: what was printed between the frames is text, as it is for the check", async () => {
    const read = async (file: string) => {
      await importNow([file]);
      const decoded = server.inputs.splice(0).filter(isFrames).map(decodeXtrack);
      const faults = decoded.flatMap((one) => one.faults.map(({ fault }) => [fault.code, fault.place.offset]));
      return { events: decoded.reduce((sum, { columns }) => sum + columns.length, 0), faults };
    };
    expect(await read(join(fixtures, "xtrack/stdio/nofd3_stdout.bin"))).toEqual({ events: 8, faults: [] });
    const torn = join(folder, "torn.out");
    const printed = [Buffer.from("one\n"), metric(2), metric(3).subarray(0, 20), Buffer.from("\ntwo\n")];
    writeFileSync(torn, Buffer.concat(printed));
    const faults = [["xtrack_bytes_skipped", 4 + metric(2).length]];
    expect(await read(torn)).toEqual({ events: 1, faults });
  });

  it("is followed while it grows; half a frame waits for its other half", async () => {
    const file = join(folder, "live.bin");
    writeFileSync(file, start);
    const stop = new AbortController();
    const other = join(folder, "other.bin");
    writeFileSync(other, start);
    const following = importNow([file, other], { follow: true, stop: stop.signal });
    await expect.poll(() => server.inputs.length, { timeout: 5000 }).toBe(2);
    const next = metric(2);
    appendFileSync(file, next.subarray(0, 10));
    appendFileSync(other, metric(3));
    await expect.poll(() => server.inputs.length, { timeout: 5000 }).toBe(3);
    appendFileSync(file, next.subarray(10));
    await expect.poll(() => server.inputs.length, { timeout: 5000 }).toBe(4);
    stop.abort();
    await following;
    expect(server.inputs.slice(2).map(({ body }) => Buffer.from(body))).toEqual([metric(3), next].map(Buffer.from));
  });

  it("is replayed at the speed it happened, or a multiple", async () => {
    const file = join(folder, "paced.bin");
    writeFileSync(file, Buffer.concat([metric(1, 1_000_000), metric(2, 3_000_000), metric(3, 5_000_000)]));
    const begun = performance.now();
    await importNow([file], { speed: "10x" });
    const tookMs = performance.now() - begun;
    expect(tookMs).toBeGreaterThan(380);
    expect(tookMs).toBeLessThan(3000);
    expect(server.inputs.length).toBe(3);
    await expect(importNow([file], { speed: "fast" })).rejects.toThrow("--speed must be");
  });
});

describe("trace lines", () => {
  it("are sent with the file, the line and the offset they begin at", async () => {
    cpSync(join(fixtures, "semantiva/plain_file/trace.ser.jsonl"), join(folder, "a.jsonl"));
    await importNow([folder], { runId: "mine" });
    const [input] = server.inputs;
    expect(input).toMatchObject({ kind: "semantiva_lines", firstLine: 1, offset: 0, runOverride: "mine" });
    expect(bytesOf(server.inputs).equals(readFileSync(join(folder, "a.jsonl")))).toBe(true);
  });

  it("are followed in bursts; half a line waits, and rotation starts over", async () => {
    const file = join(folder, "b.jsonl");
    const line = (at: number) => `{"record_type":"x","n":${at}}\n`;
    writeFileSync(file, line(1) + line(2).slice(0, 12));
    const stop = new AbortController();
    const following = importNow([file], { follow: true, stop: stop.signal });
    await expect.poll(() => server.inputs.length, { timeout: 5000 }).toBe(1);
    appendFileSync(file, line(2).slice(12));
    await expect.poll(() => server.inputs.length, { timeout: 5000 }).toBe(2);
    expect(server.inputs[1]).toMatchObject({ firstLine: 2, offset: line(1).length });
    renameSync(file, `${file}.1`);
    writeFileSync(file, line(3));
    await expect.poll(() => server.inputs.length, { timeout: 5000 }).toBe(3);
    expect(server.inputs[2]).toMatchObject({ firstLine: 1, offset: 0 });
    stop.abort();
    await following;
    expect(bytesOf(server.inputs).toString()).toBe(line(1) + line(2) + line(3));
  });
});

describe("what is too large for a request", () => {
  it("is a fault when it is one line, and its neighbours are taken", async () => {
    await server.close();
    server = await openServer({ flags: { bodyBytesMax: "2 MiB" } });
    const line = (n: number, size: number) => `{"record_type":"x","n":${n},"pad":"${"x".repeat(size)}"}\n`;
    writeFileSync(join(folder, "a.jsonl"), line(1, 10) + line(2, 10));
    writeFileSync(join(folder, "b.jsonl"), line(3, 10) + line(4, 3 << 20) + line(5, 10) + line(6, 1 << 20));
    writeFileSync(join(folder, "c.jsonl"), line(7, 10));
    const result = await importNow([folder]);
    expect(result.faults).toMatchObject([{ file: join(folder, "b.jsonl"), line: 2, code: "line_too_long" }]);
    const whole = bytesOf(server.inputs)
      .toString()
      .matchAll(/"n":(\d+),"pad":"x*"\}\n/g);
    expect(Array.from(whole, ([, n]) => Number(n)).sort()).toEqual([1, 2, 3, 5, 6, 7]);
    const places = server.inputs.map((input) =>
      input.kind === lineInputs.kind ? [(input as SemantivaLinesInput).firstLine, offsetOf(input)] : [],
    );
    expect(places).toContainEqual([3, line(3, 10).length + line(4, 3 << 20).length]);
  });

  it("is a fault when it is one line of OTLP or of an export, and the lines behind it keep their numbers", async () => {
    for (const first of ['{"resourceSpans":[]}', '{"tributary":1,"kind":"export"}']) {
      const file = join(folder, "long.jsonl");
      writeFileSync(file, `${first}\n`);
      truncateSync(file, 129 << 20);
      appendFileSync(file, "\nno request\n");
      const { faults } = await importNow([file]);
      expect(faults.map(({ line, code }) => [line, code])).toEqual([
        [2, "line_too_long"],
        [2, expect.stringMatching(/^otlp_not_export|line_not_json$/)],
        [3, expect.stringMatching(/^otlp_not_export|line_not_json$/)],
      ]);
    }
  });

  it("is a fault when it is one frame, and its neighbours are taken", async () => {
    const file = join(folder, "large.bin");
    const large = encodeFrame("param", { seq: 3, ts: 3 }, {
      run_id: "r",
      key: "k",
      value: "x".repeat(70 << 20),
    } as never);
    const frames = [start, metric(2), large, metric(4)];
    writeFileSync(file, Buffer.concat(frames));
    await importNow([file]);
    const sent = server.inputs.map((input) => Buffer.from((input as { body: Uint8Array }).body));
    expect(Math.max(...sent.map((body) => body.length))).toBeLessThan(1 << 20);
    for (const frame of [start, metric(2), metric(4)])
      expect(sent.some((body) => body.includes(Buffer.from(frame)))).toBe(true);
    const places = server.inputs.map((input) => (isFrames(input) ? input.offset : -1));
    expect(places).toContain(start.length + metric(2).length);
  });

  it("does not stand in the way of large frames that fit", async () => {
    await server.close();
    server = await openServer({ flags: { bodyBytesMax: "6 MiB" } });
    const file = join(folder, "two.bin");
    const large = encodeFrame("param", { seq: 3, ts: 3 }, {
      run_id: "r",
      key: "k",
      value: "x".repeat(5 << 20),
    } as never);
    const small = Array.from({ length: 30_000 }, (_, at) => metric(at + 10));
    writeFileSync(file, Buffer.concat([start, ...small, large, metric(4)]));
    const result = await importNow([file]);
    expect(result.faultCount).toBe(0);
    const parts = [...server.inputs].sort((a, b) => offsetOf(a) - offsetOf(b));
    expect(bytesOf(parts).equals(readFileSync(file))).toBe(true);
  });
});

describe("an export", () => {
  it("cannot make the importer write under another name than its own", async () => {
    const blob = Buffer.from("evil").toString("base64");
    const files = ["../../runs/victim/artifacts/model.bin", "a/../b", ".."].flatMap((key) => [
      { tributary: 1, kind: "file", base64: blob },
      { tributary: 1, kind: "file", key },
    ]);
    const artifact = [
      { tributary: 1, kind: "file", base64: blob },
      { tributary: 1, kind: "file", run: "..", artifact: "x" },
    ];
    const lines = [...files, ...artifact].map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(join(folder, "evil.jsonl"), `${lines.join("")}{"tributary":1,"kind":"torn\n`);
    const { faults } = await importNow([join(folder, "evil.jsonl")]);
    expect(server.blobs).toEqual([]);
    expect(faults.map(({ code }) => code)).toEqual(["bad_name", "bad_name", "bad_name", "bad_name", "line_not_json"]);
  });
});

describe("a file in an export", () => {
  it("is left out, with a word, when a line of it is missing", async () => {
    const parts = ["first half, ", "second half"].map((text) => Buffer.from(text));
    const sha256 = createHash("sha256").update(Buffer.concat(parts)).digest("hex");
    const linesOf = (key: string, some: readonly Buffer[]) => [
      ...some.map((part) => ({ tributary: 1, kind: "file", base64: part.toString("base64") })),
      { tributary: 1, kind: "file", key, sha256 },
    ];
    const lines = [...linesOf("snapshots/s/torn.bin", parts.slice(1)), ...linesOf("snapshots/s/whole.bin", parts)];
    writeFileSync(join(folder, "cut.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const { faults } = await importNow([join(folder, "cut.jsonl")]);
    expect(server.blobs.map(({ put }) => put.key)).toEqual(["snapshots/s/whole.bin"]);
    expect(faults).toEqual([expect.objectContaining({ code: "file_damaged", line: 2 })]);
  });
});

describe("the command", () => {
  it("says what it read, waits when the server is busy, and is content to do it again", async () => {
    let busy = 1;
    const { respond } = server;
    server.respond = async () => (busy-- > 0 ? { busy: true, retryAfterS: 1 } : respond());
    const path = join(fixtures, "cirron/torch_stats");
    for (const _ of [1, 2]) {
      const { code, out } = await runInTest(["import", path, "--server", server.url]);
      expect([code, out]).toEqual([0, expect.stringMatching(/^3 files \(\d+\.\d KiB\): 3 batches, 3 new records\n$/)]);
    }
  });

  it("tells what was new from what was known", async () => {
    const path = join(fixtures, "cirron/torch_stats");
    server.respond = async () => ({ position: 1, accepted: 0, duplicates: 5, faults: [] });
    const known = await runInTest(["import", path, "--server", server.url]);
    expect(known).toMatchObject({
      code: 0,
      out: expect.stringContaining(": 3 batches, nothing new, 15 records already known\n"),
    });
  });

  it("says that a path does not exist, and still reads the others", async () => {
    const spool = join(fixtures, "cirron/torch_stats");
    const { code, out, err } = await runInTest(["import", "/no/such/path", spool, "--server", server.url]);
    expect([code, err]).toEqual([2, "error There is no /no/such/path.\nIs the path right?\n"]);
    expect(out).toContain("3 files");
  });

  it("ends with 1 when there were faults", async () => {
    writeFileSync(join(folder, `${"1".padStart(20, "0")}-${"c".repeat(32)}.json`), "{torn");
    const { code, out } = await runInTest(["import", folder, "--server", server.url]);
    expect([code, out]).toEqual([1, expect.stringContaining("1 fault, kept with its bytes:")]);
  });

  it("does not read the data folder of a Tributary, by its name or by what is in it", async () => {
    for (const name of [".tributary", "renamed"]) {
      mkdirSync(join(folder, name, "journal"), { recursive: true });
      writeFileSync(join(folder, name, "collector"), "id");
      writeFileSync(join(folder, name, "journal", "1.bin"), start);
    }
    writeFileSync(join(folder, "mine.bin"), start);
    const { code, out, err } = await runInTest(["import", folder, "--server", server.url]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^1 file /)]);
    expect(err).toContain(`${join(folder, "renamed")} was not read: a data folder of Tributary itself\n`);
    expect(server.inputs.map((input) => (isFrames(input) ? input.file : ""))).toEqual([join(folder, "mine.bin")]);
  });

  it("does not follow links out of the folder that it was given", async () => {
    const given = join(folder, "given");
    mkdirSync(join(given, "snapshots", "span1"), { recursive: true });
    const secret = join(folder, "secret.jsonl");
    writeFileSync(secret, '{"record_type":"canary"}\n');
    symlinkSync(secret, join(given, "evil.jsonl"));
    symlinkSync(secret, join(given, "snapshots", "span1", "weights.safetensors"));
    symlinkSync(folder, join(given, "up"));
    writeFileSync(join(given, "inside.bin"), start);
    symlinkSync(join(given, "inside.bin"), join(given, "linked.bin"));
    const { code, err } = await runInTest(["import", given, "--server", server.url]);
    expect([code, server.blobs]).toEqual([0, []]);
    expect(server.inputs).toHaveLength(2);
    expect(bytesOf(server.inputs).includes("canary")).toBe(false);
    expect(err).toContain(`${join(given, "evil.jsonl")} was not read: a link that leads out of the folder\n`);
  });

  it("ends with 1 when there is nothing to read", async () => {
    writeFileSync(join(folder, "notes.txt"), "hello");
    const { code, err } = await runInTest(["import", folder, "--server", server.url]);
    expect([code, err]).toEqual([1, expect.stringContaining("Nothing to read")]);
  });
});
