// XTrack frames for tests, written by hand as the document says.

export interface Frame {
  readonly type: string;
  readonly seq: number;
  readonly ts: number;
  readonly wid?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export function toFrame({ type, seq, ts, wid, payload }: Frame): Buffer {
  const m = wid === undefined ? { seq, ts } : { seq, ts, wid };
  return toFrameOfText(JSON.stringify({ v: 1, t: type, m, p: payload }));
}

export function toFrameOfText(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}
