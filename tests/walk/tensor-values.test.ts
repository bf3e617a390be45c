// Values out of a stored blob, digit for digit: the text of the answer is compared, which no reader has rounded yet.

import { expect, test } from "vitest";
import { suiteApp } from "../support/app.ts";

const walk = suiteApp();

const tensors = {
  signed: {
    dtype: "I64",
    bytes: new Uint8Array(BigInt64Array.of(2n ** 63n - 1n, 2n ** 53n + 1n, -(2n ** 63n), 7n).buffer),
  },
  unsigned: { dtype: "U64", bytes: new Uint8Array(BigUint64Array.of(2n ** 64n - 1n, 0n).buffer) },
  floats: { dtype: "F64", bytes: new Uint8Array(Float64Array.of(-0, 0, Number.NaN, -Infinity, 5e-324).buffer) },
};

/** Length of the header, header, data: see src/store/blobs/safetensors.ts. */
function toSafetensors(): Buffer {
  let end = 0;
  const header = Object.entries(tensors).map(([name, { dtype, bytes }]) => {
    const begin = end;
    end += bytes.length;
    return [name, { dtype, shape: [bytes.length / 8], data_offsets: [begin, end] }];
  });
  const text = Buffer.from(JSON.stringify(Object.fromEntries(header)));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([size, text, ...Object.values(tensors).map(({ bytes }) => bytes)]);
}

test("integers of 64 bits and negative zeros come out of a blob exactly", async () => {
  const key = "/v1/traces/blobs/snapshots/t1/weights.safetensors";
  expect(
    (await fetch(walk.app.url + key, { method: "PUT", body: toSafetensors() as Uint8Array<ArrayBuffer> })).status,
  ).toBe(201);
  const snapshots = Object.keys(tensors).map((name) => ({
    id: name,
    span_id: "t1",
    tensor_name: name,
    mode: "full",
    ts_ns: 2,
  }));
  const spans = [{ id: "t1", name: "cirron.session", parent_id: null, start_ns: 1, end_ns: 9 }];
  await walk.post("/v1/traces", JSON.stringify({ schema_version: 1, batch_id: "values", spans, marks: [], snapshots }));
  await walk.app.collector.drained();
  const textOf = async (name: string) => {
    const response = await fetch(`${walk.app.url}/api/v1/runs/t1/snapshots/${name}/values?snapshot=${name}&bins=2`);
    return /"values":(\[.*?\])/.exec(await response.text())?.[1];
  };
  expect(await textOf("signed")).toBe('["9223372036854775807","9007199254740993","-9223372036854775808","7"]');
  expect(await textOf("unsigned")).toBe('["18446744073709551615","0"]');
  expect(await textOf("floats")).toBe('[-0,0,"NaN","-Infinity",5e-324]');
});

test("a file may be named by a snapshot's id, as the document has it, and asked for by it [CT-38]", async () => {
  const file = toSafetensors() as Uint8Array<ArrayBuffer>;
  const blob = (span: string, name: string) => `${walk.app.url}/v1/traces/blobs/snapshots/${span}/${name}`;
  expect((await fetch(blob("t2", "own-1.safetensors"), { method: "PUT", body: file })).status).toBe(201);
  const snapshot = { id: "own-1", span_id: "t2", tensor_name: "signed", mode: "full", ts_ns: 2 };
  const spans = [{ id: "t2", name: "cirron.session", parent_id: null, start_ns: 1, end_ns: 9 }];
  const batch = { schema_version: 1, batch_id: "own", spans, marks: [], snapshots: [snapshot] };
  await walk.post("/v1/traces", JSON.stringify(batch));
  await walk.app.collector.drained();
  expect((await walk.get("/api/v1/runs/t2/snapshots/signed")).body).toMatchObject({ rows: [{ blob_stored: true }] });
  const values = await walk.get("/api/v1/runs/t2/snapshots/signed/values?snapshot=own-1");
  expect(values).toMatchObject({ status: 200, body: { total: 4, dtype: "I64" } });
  // One file of all weights, asked for by one of its snapshots.
  for (const [span, name] of [
    ["t2", "own-1.safetensors"],
    ["t1", "floats.safetensors"],
    ["t1", "weights.safetensors"],
  ] as const) {
    const response = await fetch(blob(span, name));
    expect([name, response.status]).toEqual([name, 200]);
    expect(Buffer.from(await response.arrayBuffer()).equals(file)).toBe(true);
  }
  expect((await fetch(blob("t1", "other.safetensors"))).status).toBe(404);
  const refused = await fetch(blob("t1", "no-extension"), { method: "PUT", body: file });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("a snapshot's id")]);
  const query = "SELECT blobUri FROM TraceSnapshot ORDER BY spanId, id";
  const { rows } = (await walk.post("/api/v1/sql", JSON.stringify({ query }))).body as { rows: string[][] };
  const weights = "traces/default/t1/t1/weights.safetensors";
  expect(rows.flat()).toEqual([weights, weights, weights, "traces/default/t2/t2/own-1.safetensors"]);
});
