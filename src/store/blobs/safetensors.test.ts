import { assert, asyncProperty, constantFrom, integer, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { findTensor, type RangeSource, readTensorFile, type Tensor, type TensorFile } from "./safetensors.ts";
import { readHistogram } from "./tensor-histogram.ts";
import { type Dtype, decodeValues, dtypeBytes } from "./tensor-values.ts";

/** A file in memory that counts what is read of it and gives it in odd chunks. */
function sourceOf(bytes: Uint8Array): RangeSource & { readBytes: number } {
  const source = {
    size: bytes.length,
    readBytes: 0,
    async *read(start: number, end: number): AsyncGenerator<Uint8Array> {
      source.readBytes += end - start;
      for (let at = start; at < end; at += 13) yield bytes.subarray(at, Math.min(end, at + 13));
    },
  };
  return source;
}

/** Bytes built by hand from the format's description. */
function fileOf(header: unknown, data: Uint8Array = new Uint8Array(0)): Uint8Array {
  const text = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}

async function openFile(source: RangeSource): Promise<TensorFile> {
  const read = await readTensorFile(source);
  if (!read.ok) throw new Error(read.reason);
  return read.file;
}

const floats = (values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);

describe("a safetensors file", () => {
  const data = floats(Array.from({ length: 24 }, (_, i) => i));
  const bytes = fileOf(
    {
      __metadata__: { format: "pt" },
      w: { dtype: "F32", shape: [2, 3, 4], data_offsets: [0, 96] },
      e: { dtype: "F32", shape: [0, 5], data_offsets: [96, 96] },
      s: { dtype: "F32", shape: [], data_offsets: [0, 4] },
    },
    data,
  );

  it("is opened by its header alone", async () => {
    const source = sourceOf(Buffer.concat([bytes, Buffer.alloc(1_000_000)]));
    const file = await openFile(source);
    expect([...file.tensors.keys()]).toEqual(["w", "e", "s"]);
    expect(file.metadata.get("format")).toBe("pt");
    expect(source.readBytes).toBeLessThan(500);
  });

  it("finds a gradient under its parameter's name too [CT-18]", async () => {
    const file = await openFile(sourceOf(bytes));
    expect(findTensor(file, "w.grad")?.name).toBe("w");
    expect(findTensor(file, "w")?.name).toBe("w");
    expect(findTensor(file, "v.grad")).toBeNull();
    expect(findTensor(file, "constructor")).toBeNull();
  });

  it.each([
    ["too short", new Uint8Array(7)],
    ["a header beyond its end", fileOf("{}").subarray(0, 9)],
    ["a length of 2^63", Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 128]), Buffer.alloc(8)])],
    ["no JSON", fileOf("{")],
    ["JSON nested without end", fileOf("[".repeat(1_000_000))],
    ["broken UTF-8", Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, 0]), Buffer.from([0xff, 0xff])])],
    ["a list as header", fileOf([])],
    ["an unknown dtype", fileOf({ t: { dtype: "toString", shape: [], data_offsets: [0, 0] } })],
    ["a negative size", fileOf({ t: { dtype: "F32", shape: [-1], data_offsets: [0, 0] } })],
    ["a fraction as size", fileOf({ t: { dtype: "U8", shape: [0.5], data_offsets: [0, 0] } })],
    [
      "offsets that do not fit the shape",
      fileOf({ t: { dtype: "F32", shape: [2], data_offsets: [0, 4] } }, floats([1, 2])),
    ],
    ["offsets beyond the file", fileOf({ t: { dtype: "F32", shape: [2], data_offsets: [4, 12] } }, floats([1, 2]))],
    [
      "a shape whose product overflows",
      fileOf({ t: { dtype: "U8", shape: [2 ** 30, 2 ** 30], data_offsets: [0, 0] } }),
    ],
    ["a null entry", fileOf({ t: null })],
  ])("is refused with a reason when it has %s", async (_what, file) => {
    const read = await readTensorFile(sourceOf(file));
    expect(read).toMatchObject({ ok: false, reason: expect.stringMatching(/\w+ \w+/) });
  });

  it("never makes a reader throw, whatever its bytes", async () => {
    await assert(
      asyncProperty(uint8Array({ maxLength: 200 }), constantFrom(0, 1, 2, 8, 30), async (noise, length) => {
        const head = Buffer.alloc(8);
        head.writeBigUInt64LE(BigInt(length));
        await readTensorFile(sourceOf(Buffer.concat([head, noise])));
        await readTensorFile(sourceOf(noise));
      }),
    );
  });
});

describe("tensor values", () => {
  const cases: readonly [Dtype, readonly number[], readonly (number | bigint)[]][] = [
    [
      "F16",
      [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0x00, 0x7c, 0x00, 0x7e],
      [1, -2, 2 ** -24, Number.POSITIVE_INFINITY, Number.NaN],
    ],
    ["BF16", [0x80, 0x3f, 0x00, 0xc0, 0x80, 0xff], [1, -2, Number.NEGATIVE_INFINITY]],
    ["F8_E4M3", [0x38, 0x7e, 0x7f, 0x01], [1, 448, Number.NaN, 2 ** -9]],
    ["F8_E5M2", [0x3c, 0x7b, 0x7c, 0x01], [1, 57344, Number.POSITIVE_INFINITY, 2 ** -16]],
    ["I64", [255, 255, 255, 255, 255, 255, 255, 127], [9223372036854775807n]],
    ["U64", [255, 255, 255, 255, 255, 255, 255, 255], [18446744073709551615n]],
    ["I32", [255, 255, 255, 255], [-1]],
    ["I16", [0, 128], [-32768]],
    ["I8", [128, 127], [-128, 127]],
    ["U32", [255, 255, 255, 255], [4294967295]],
    ["U16", [255, 255], [65535]],
    ["U8", [0, 255], [0, 255]],
    ["BOOL", [0, 1], [0, 1]],
    ["F32", [0, 0, 128, 191], [-1]],
    ["F64", [0, 0, 0, 0, 0, 0, 240, 191], [-1]],
  ];

  it.each(cases)("of type %s are read exactly", (dtype, bytes, values) => {
    expect([...decodeValues(dtype, Uint8Array.from(bytes))]).toEqual(values);
  });

  it("are tested in every type there is", () => {
    expect(cases.map(([dtype]) => dtype).toSorted()).toEqual(Object.keys(dtypeBytes).toSorted());
  });
});

describe("a histogram", () => {
  async function histogramOf(values: readonly number[], bins: number) {
    const bytes = new Uint8Array(Float64Array.from(values).buffer);
    const source = sourceOf(
      fileOf({ t: { dtype: "F64", shape: [values.length], data_offsets: [0, bytes.length] } }, bytes),
    );
    return readHistogram(source, (await openFile(source)).tensors.get("t") as Tensor, bins);
  }

  it("counts every finite value once and names the others", async () => {
    const values = [0, 1, 2, 3, 4, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const histogram = await histogramOf(values, 4);
    expect(histogram).toEqual({
      nan: 1,
      infinite: 2,
      edges: [0, 1, 2, 3, 4],
      counts: [1, 1, 1, 2],
    });
  });

  it("agrees with its own edges on random values", async () => {
    await assert(
      asyncProperty(uint8Array({ minLength: 1, maxLength: 200 }), integer({ min: 1, max: 30 }), async (noise, bins) => {
        const values = [...noise].map((byte) => byte / 7 - 11);
        const { edges, counts } = await histogramOf(values, bins);
        const expected = counts.map((_, bin) => {
          const last = bin === bins - 1;
          return values.filter((value) => value >= edges[bin]! && (last || value < edges[bin + 1]!)).length;
        });
        expect(counts).toEqual(expected);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
      }),
    );
  });

  it("counts every value, however near or far they are from each other", async () => {
    const [least, most] = [Number.MIN_VALUE, Number.MAX_VALUE];
    for (const values of [
      [0, least],
      [1e17, 1e17],
      [-most, 0, most],
      [-most, most / 2, most],
    ]) {
      const { edges, counts } = await histogramOf(values, 4);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
      expect(edges.every(Number.isFinite)).toBe(true);
      expect(edges.toSorted((a, b) => a - b)).toEqual(edges);
    }
    expect(await histogramOf([-most, 0, most], 4)).toMatchObject({ counts: [1, 0, 1, 1] });
  });

  it("of one repeated value has bins of its own, and of none is empty", async () => {
    expect(await histogramOf([5, 5], 2)).toMatchObject({ edges: [5, 5.5, 6], counts: [2, 0] });
    expect(await histogramOf([Number.NaN], 2)).toMatchObject({ edges: [], counts: [], nan: 1 });
  });
});
