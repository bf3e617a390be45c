// What the SDK writes, read by the server's own decoders: no fault, no leftover, and every value back.

import { readdirSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { mark, markInt, profile, scope, shutdown, snapshot } from "../../src/emit/cirron.ts";
import { startRun } from "../../src/emit/xtrack.ts";
import {
  type BatchTree,
  decoded,
  readIndependently,
  rebuilt,
  sameNumbers,
} from "../../src/wire/cirron/small-records.testing.ts";
import { decodeAll } from "../../src/wire/xtrack/decode-cases.testing.ts";
import { makeFolder } from "../support/folder.ts";

afterEach(() => shutdown());

it("gives the Cirron decoder batches it rebuilds value by value", async () => {
  const value = fc.oneof(fc.double(), fc.string({ unit: "binary" }), fc.boolean(), fc.bigInt());
  const attrs = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue());
  const program = fc.array(fc.tuple(fc.string({ unit: "binary" }), value, attrs, fc.nat()), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(program, fc.float32Array({ maxLength: 40 }), async (rows, tensor) => {
      const path = makeFolder();
      profile({ path });
      for (const [name, given, attributes, count] of rows) {
        scope(name, () => mark(name, given, attributes), { index: count, attrs: attributes });
        markInt(name, count);
      }
      snapshot({ w: tensor });
      await shutdown();
      for (const name of readdirSync(`${path}/spool`)) {
        const bytes = readFileSync(`${path}/spool/${name}`);
        const sent = readIndependently(bytes.toString()) as BatchTree;
        const batch = decoded(bytes);
        expect(batch.faults).toEqual([]);
        expect(batch.extra).toBe("");
        const { spans, marks, snapshots } = sent;
        expect(sameNumbers(rebuilt(batch))).toStrictEqual(sameNumbers({ spans, marks, snapshots }));
      }
    }),
    { numRuns: 40 },
  );
});

it("gives the XTrack decoder frames it takes without a word", async () => {
  const metrics = fc.array(fc.tuple(fc.string({ unit: "binary" }), fc.double(), fc.nat()), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(metrics, fc.dictionary(fc.string(), fc.jsonValue()), async (points, params) => {
      const path = `${makeFolder()}/e.bin`;
      const run = startRun({ params, source: false, env: false, transport: { kind: "file", path } });
      for (const [key, number, step] of points) {
        run.metric(key, number, { step });
        run.log("info", key, { fields: { [key]: number } });
        run.metricBatch({ [key]: number }, { step, phase: "val" });
      }
      run.checkpoint({ step: 1, path: "/x" });
      await run.end();
      const bytes = readFileSync(path);
      const texts: string[] = [];
      for (let at = 0; at < bytes.length; at += 4 + bytes.readUInt32BE(at))
        texts.push(bytes.toString("utf8", at + 4, at + 4 + bytes.readUInt32BE(at)));
      expect(new Set(decodeAll(texts).outcomes)).toEqual(new Set(["event"]));
    }),
    { numRuns: 40 },
  );
});
