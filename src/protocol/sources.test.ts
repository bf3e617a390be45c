import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "../../tests/support/folder.ts";
import { detectFile } from "./detect.ts";
import { findSources } from "./sources.ts";

const encoder = new TextEncoder();

function frame(text: string): Uint8Array {
  const body = encoder.encode(text);
  const bytes = new Uint8Array(4 + body.length);
  new DataView(bytes.buffer).setUint32(0, body.length);
  bytes.set(body, 4);
  return bytes;
}

const runId = "run-c6f4c57e8feb44c69a2c2d139372cb3a";
const line = '{"record_type": "pipeline_end", "run_id": "r", "schema_version": 1}\n';
const spoolName = `${"1".padStart(20, "0")}-${"a".repeat(32)}.json`;
const event = '{"v":1,"t":"run_start","m":{"seq":1,"ts":1},"p":{}}';

describe("detectFile", () => {
  it.each([
    ["trace.ser.jsonl", line, "semantiva_lines"],
    [`20261115-024959_${runId}.ser.jsonl`, line, "semantiva_lines"],
    ["20261115-024959_runspace-1a82.trace.jsonl", line, "semantiva_lines"],
    ["20261115-024959_launch-A.ser.jsonl", line, "semantiva_lines"],
    ["whatever.log", line, "semantiva_lines"],
    ["with-mark.txt", `\ufeff${line}`, "semantiva_lines"],
    ["torn-start.jsonl", `ed"}\n${line}`, "semantiva_lines"],
    ["empty.jsonl", "", "semantiva_lines"],
    ["notes.txt", "hello", "unknown"],
    ["config.json", '{"a": 1}', "unknown"],
    ["nothing", "", "empty"],
  ])("tells a trace stream in every naming the driver has: %s (S9)", (name, text, kind) => {
    expect(detectFile(name, encoder.encode(text)).name).toBe(kind);
  });

  it.each([
    [spoolName, "{", "cirron_batch"],
    ["batch.json", '{"schema_version": 1, "batch_id": "x", "spans": []}', "cirron_batch"],
    [`${spoolName}.tmp`, "{", "temporary"],
    ["weights.safetensors", "\x10\0\0\0\0\0\0\0{}", "cirron_blob"],
    ["job.log", 'step 1 {"__cirron_event__":"trace_batch","payload":{}}\n', "cirron_events"],
  ])("tells what Cirron writes: %s", (name, text, kind) => {
    expect(detectFile(name, encoder.encode(text)).name).toBe(kind);
  });

  it("tells XTrack frames, alone and mixed with prints", () => {
    expect(detectFile("anything", frame(event)).name).toBe("xtrack_frames");
    expect(detectFile("empty.bin", new Uint8Array(0)).name).toBe("xtrack_frames");
    const mixed = new Uint8Array([...encoder.encode("epoch 1\n"), ...frame(event)]);
    expect(detectFile("stdout", mixed).name).toBe("xtrack_mixed");
    expect(detectFile("events.ndjson", encoder.encode(`${event}\n${event}\n`)).name).toBe("unknown");
  });
});

describe("findSources", () => {
  let folder = "";

  beforeEach(async () => {
    folder = makeFolder();
  });

  async function find(...paths: string[]): Promise<string[]> {
    const found: string[] = [];
    for await (const source of findSources(paths)) {
      found.push(`${relative(folder, source.path)} ${source.kind?.name ?? "unreadable"}`);
    }
    return found;
  }

  it("finds every trace in a folder, and only those, in the order of their names", async () => {
    await mkdir(join(folder, ".cirron/spool"), { recursive: true });
    await mkdir(join(folder, ".cirron/snapshots/s1"), { recursive: true });
    await mkdir(join(folder, "trace.v1"));
    await writeFile(join(folder, ".cirron/spool", spoolName), "{}");
    await writeFile(join(folder, ".cirron/spool", `${spoolName}.tmp`), "{");
    await writeFile(join(folder, ".cirron/snapshots/s1/weights.safetensors"), "x");
    await writeFile(join(folder, "trace.v1", `20261115-024959_${runId}.ser.jsonl`), line);
    await writeFile(join(folder, "trace.v1", "20261115-024959_runspace-1a82.trace.jsonl"), line);
    await writeFile(join(folder, "events.bin"), frame(event));
    await writeFile(join(folder, "readme.md"), "# hello");
    await symlink(folder, join(folder, "loop"));
    expect(await find(folder)).toEqual([
      ".cirron/snapshots/s1/weights.safetensors cirron_blob",
      `.cirron/spool/${spoolName} cirron_batch`,
      "events.bin xtrack_frames",
      `trace.v1/20261115-024959_${runId}.ser.jsonl semantiva_lines`,
      "trace.v1/20261115-024959_runspace-1a82.trace.jsonl semantiva_lines",
    ]);
  });

  it("gives a file that was named whatever it is, and says what cannot be read", async () => {
    await writeFile(join(folder, "readme.md"), "# hello");
    const found = await find(join(folder, "readme.md"), join(folder, "none"));
    expect(found).toEqual(["readme.md unknown", "none unreadable"]);
  });
});
