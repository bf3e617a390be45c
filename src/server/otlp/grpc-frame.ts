// gRPC's framing of a unary call: one message in each direction.
//
//   u8: 1 when the message is compressed · u32 big-endian length · message

import { ProtoWriter } from "#wire/otlp/proto-writer.ts";

/** What stands before the message. */
export const headBytes = 5;

/** Null when the body is not exactly one message. */
export function parseGrpcBody(body: Uint8Array) {
  if (body.length < headBytes) return null;
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1);
  const flag = body[0] as number;
  if (flag > 1 || body.length !== headBytes + length) return null;
  return { isCompressed: flag === 1, bytes: body.subarray(headBytes) };
}

export function toGrpcBody(message: Uint8Array): Uint8Array {
  const body = new Uint8Array(headBytes + message.length);
  new DataView(body.buffer).setUint32(1, message.length);
  body.set(message, headBytes);
  return body;
}

/** Percent-encoded, as `grpc-message` wants everything but printable ASCII. */
export function toGrpcText(text: string): string {
  return encodeURIComponent(text)
    .replaceAll("%20", " ")
    .replaceAll(/%(2[1-9A-F]|3[A-F]|40|5[BDE]|7[BCD])/g, (code) => decodeURIComponent(code));
}

/** google.rpc.Status with a RetryInfo in base64: when to try again. */
export function toRetryDetails(code: number, message: string, retryAfterS: number): string {
  const retryInfo = new ProtoWriter();
  retryInfo.message(1, () => retryInfo.smallVarint(1, Math.max(1, Math.ceil(retryAfterS))));
  const out = new ProtoWriter();
  out.smallVarint(1, code);
  out.text(2, message);
  out.message(3, () => {
    out.text(1, "type.googleapis.com/google.rpc.RetryInfo");
    out.bytes(2, retryInfo.finish());
  });
  return Buffer.from(out.finish()).toString("base64");
}
