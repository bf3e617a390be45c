import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSentinels } from "./sentinel.ts";

const batch = '{"schema_version": 1, "batch_id": "b", "spans": [{"start_ns": 1794710396768536383, "x": NaN}]}';
const sentinel = `{"__cirron_event__": "trace_batch", "schema_version": 1, "sdk_version": "0.1", "payload": ${batch}}`;
const find = (line: string) => findSentinels(Buffer.from(line));

describe("sentinel lines", () => {
  it("gives the batch byte for byte, exact integers and NaN included", () => {
    const [found] = find(sentinel);
    expect(found?.kind === "trace_batch" && Buffer.from(found.batch).toString()).toBe(batch);
  });

  it("finds one after text that was printed without a newline, and before more of it", () => {
    const line = `step 1: loss 0.5 ${sentinel} and on`;
    const [found] = find(line);
    expect(found).toMatchObject({ start: 17, end: 17 + sentinel.length });
    expect(line.slice(0, found?.start) + line.slice(found?.end)).toBe("step 1: loss 0.5  and on");
  });

  it("passes over torn look-alikes and still finds the real one", () => {
    const torn = '{"__cirron_event__": "trace_batch", "payload": {"a": ';
    expect(find(torn)).toEqual([]);
    expect(find(`${torn}${sentinel}`).map(({ kind }) => kind)).toEqual(["trace_batch"]);
    expect(find(`${sentinel}${sentinel}`)).toHaveLength(2);
  });

  it("reads where a blob lies", () => {
    const line =
      '{"__cirron_event__":"trace_blob","payload":{"remote_key":"snapshots/s/weights.safetensors","local_path":".cirron/x"}}';
    expect(find(line)).toMatchObject([
      { kind: "trace_blob", remoteKey: "snapshots/s/weights.safetensors", localPath: ".cirron/x" },
    ]);
  });

  it("leaves other events and odd payloads in the text, where they are kept", () => {
    expect(find('{"__cirron_event__":"heartbeat"}')).toEqual([]);
    expect(find('{"__cirron_event__":"trace_batch","payload":7}')).toEqual([]);
    expect(find("nothing here")).toEqual([]);
  });

  it("never throws and never reads beyond the line, whatever stands in it", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: sentinel.length }), fc.string(), (before, cutAt, after) => {
        const line = Buffer.from(before + sentinel.slice(0, cutAt) + after);
        for (const { start, end } of findSentinels(line)) {
          expect(start).toBeLessThan(end);
          expect(end).toBeLessThanOrEqual(line.length);
        }
      }),
    );
  });
});
