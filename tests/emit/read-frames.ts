// A reader of XTrack streams written from the document alone, and strict: field tables, types and words are
// checked for every event. It shares no code with the SDK.

import assert from "node:assert/strict";

export interface ReadEvent {
  v: 1;
  t: string;
  m: { seq: number; ts: number; wid?: string };
  // biome-ignore lint/suspicious/noExplicitAny: the payload's shape is what the checks below establish.
  p: any;
}

type Check = (value: unknown) => boolean;
type Table = Record<string, { required: boolean; check: Check }>;

const isString: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isInteger: Check = (value) => Number.isSafeInteger(value);
const isBoolean: Check = (value) => typeof value === "boolean";
const isObject: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isAny: Check = () => true;
const isText = isString;
const oneOf =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value as string);
const objectOf =
  (table: Table): Check =>
  (value) => {
    checkFields(value as Record<string, unknown>, table);
    return true;
  };
const must = (check: Check) => ({ required: true, check });
const may = (check: Check) => ({ required: false, check });

const context = objectOf({
  phase: may(oneOf("train", "val", "test")),
  batch_size: may(isInteger),
  dataset_size: may(isInteger),
  agg: may(oneOf("mean", "sum", "last")),
  extra: may(isAny),
});

const tables: Record<string, Table> = {
  run_start: {
    run_id: must(objectOf({ id: must(isText), exp_id: may(isText), parent_id: may(isText) })),
    name: may(isString),
    tags: may(isObject),
    source: may(
      objectOf({
        git_commit: may(isText),
        git_branch: may(isText),
        git_repo: may(isText),
        entrypoint: may(isText),
        code_hash: may((value) => /^sha256:[0-9a-f]{64}$/.test(value as string)),
      }),
    ),
    env: may(
      objectOf({ node_version: may(isText), platform: may(isText), hostname: may(isText), env_vars: may(isObject) }),
    ),
    accepts: may((value) => (value as string[]).every((word) => word === "ack" || word === "command")),
  },
  run_end: {
    run_id: must(isText),
    status: must(oneOf("completed", "failed", "killed")),
    error: may(objectOf({ type: may(isText), message: may(isText), traceback: may(isText) })),
    final_metrics: may(isObject),
    duration_ms: may(isInteger),
  },
  param: {
    run_id: must(isText),
    key: must(isText),
    value: must(isAny),
    nested_key: may((value) => (value as string[]).length > 0 && (value as string[]).every(isString)),
  },
  metric: {
    run_id: must(isText),
    key: must(isText),
    value: must((value) => isNumber(value) || isBoolean(value)),
    step: may(isInteger),
    epoch: may(isInteger),
    ctx: may(context),
  },
  metric_batch: {
    run_id: must(isText),
    metrics: must(isObject),
    step: may(isInteger),
    epoch: may(isInteger),
    ctx: may(context),
  },
  artifact: {
    run_id: must(isText),
    path: must((value) => (value as string).startsWith("/")),
    type: may(
      oneOf(
        ..."model checkpoint weights config plot figure image data predictions embeddings log profile other".split(" "),
      ),
    ),
    name: may(isText),
    meta: may(isObject),
    size: may(isInteger),
    checksum: may((value) => /^sha256:[0-9a-f]{64}$/.test(value as string)),
    upload: may(oneOf("reference", "inline", "stream")),
  },
  checkpoint: {
    run_id: must(isText),
    step: must(isInteger),
    path: must(isText),
    epoch: may(isInteger),
    metrics: may(isObject),
    is_best: may(isBoolean),
    best_key: may(isText),
    meta: may(isObject),
  },
  status: {
    run_id: must(isText),
    status: must(
      oneOf(
        ..."initializing running training evaluating checkpointing paused resuming finishing completed failed killed".split(
          " ",
        ),
      ),
    ),
    msg: may(isString),
    progress: may(objectOf({ cur: must(isInteger), total: may(isInteger), unit: may(isText) })),
  },
  log: {
    run_id: must(isText),
    level: must(oneOf("debug", "info", "warning", "error")),
    msg: must(isString),
    logger: may(isText),
    step: may(isInteger),
    fields: may(isObject),
  },
  ack: {
    run_id: may(isText),
    seq: must(isInteger),
    status: must(oneOf("ok", "error")),
    error: may((value) => value === null || isString(value)),
    cmd_id: may(isText),
  },
  auth: { key: must(isText) },
};

/** Takes bytes as they come; whole frames are checked and kept, the rest waits. */
export class FrameReader {
  readonly events: ReadEvent[] = [];
  private held: Buffer = Buffer.alloc(0);

  push(chunk: Uint8Array): ReadEvent[] {
    this.held = Buffer.concat([this.held, chunk]);
    const fresh: ReadEvent[] = [];
    for (;;) {
      if (this.held.length < 4) break;
      const size = this.held.readUInt32BE(0);
      assert.ok(size < 100_000_000, `a length of ${size} cannot be right`);
      if (this.held.length < 4 + size) break;
      fresh.push(checkEvent(this.held.toString("utf8", 4, 4 + size)));
      this.held = this.held.subarray(4 + size);
    }
    this.events.push(...fresh);
    return fresh;
  }

  /** Bytes of a frame that is not complete. */
  get rest(): number {
    return this.held.length;
  }
}

/** Frames of a whole file or capture. */
export function readFrames(bytes: Uint8Array): ReadEvent[] {
  const reader = new FrameReader();
  reader.push(bytes);
  assert.equal(reader.rest, 0, "the stream ends with a whole frame");
  return reader.events;
}

function checkEvent(json: string): ReadEvent {
  assert.doesNotMatch(json, /\n$/);
  const event = JSON.parse(json) as ReadEvent;
  assert.equal(json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').match(/[ \n\t]/), null, "compact JSON has no blanks");
  assert.deepEqual(Object.keys(event), ["v", "t", "m", "p"]);
  assert.equal(event.v, 1);
  const { seq, ts, wid } = event.m;
  assert.ok(Number.isSafeInteger(seq) && (seq >= 1 || event.t === "auth"));
  assert.ok(Number.isSafeInteger(ts) && Math.abs(ts / 1000 - Date.now()) < 86_400_000, "microseconds of today");
  if (wid !== undefined) assert.equal(typeof wid, "string");
  const table = tables[event.t];
  assert.ok(table, `event type ${event.t}`);
  checkFields(event.p, table);
  if (event.t === "run_end" && event.p.status === "failed") assert.ok(event.p.error, "a failed run says why");
  return event;
}

function checkFields(value: Record<string, unknown>, table: Table): void {
  for (const key of Object.keys(value)) assert.ok(key in table, `field ${key}`);
  for (const [key, { required, check }] of Object.entries(table)) {
    if (value[key] === undefined) assert.ok(!required, `field ${key} is required`);
    else assert.ok(check(value[key]), `field ${key}: ${JSON.stringify(value[key])}`);
  }
}
