import { expect, test } from "vitest";
import { decodeResponse, type Encoding, encodeResponse } from "./reply.ts";

const encodings: readonly Encoding[] = ["json", "protobuf"];
const signals = ["traces", "metrics", "logs"] as const;

test.each(encodings)("what was rejected is read from an answer in %s as it was said", (encoding) => {
  for (const signal of signals) {
    const read = (rejected: number, message: string) =>
      decodeResponse(encoding, signal, encodeResponse(encoding, signal, rejected, message));
    expect(read(0, "")).toBeNull();
    expect(read(3, "")).toEqual({ rejected: 3, message: "" });
    expect(read(2 ** 40, "zu groß")).toEqual({ rejected: 2 ** 40, message: "zu groß" });
    expect(read(0, "use gzip")).toEqual({ rejected: 0, message: "use gzip" });
  }
});

test("a number may be one, and a field may have the name of its declaration", () => {
  const read = (text: string) => decodeResponse("json", "metrics", Buffer.from(text));
  expect(read('{"partialSuccess":{"rejectedDataPoints":5}}')).toEqual({ rejected: 5, message: "" });
  expect(read('{"partial_success":{"rejected_data_points":"5","error_message":"no"}}')).toEqual({
    rejected: 5,
    message: "no",
  });
  for (const odd of ["-1", "1.5", "null", '"many"'])
    expect(read(`{"partialSuccess":{"rejectedDataPoints":${odd}}}`)).toBeNull();
});

test("an answer that is none of OTLP's says nothing", () => {
  for (const text of ["", "ok", "<html></html>", "{", "null", "[1]", '{"partialSuccess":1}'])
    for (const encoding of encodings) expect(decodeResponse(encoding, "traces", Buffer.from(text))).toBeNull();
  const minusOne = [8, ...new Array(9).fill(0xff), 1];
  expect(decodeResponse("protobuf", "traces", Uint8Array.from([10, minusOne.length, ...minusOne]))).toBeNull();
});
