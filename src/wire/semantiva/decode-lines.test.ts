import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { bundledSchemas } from "./bundled.ts";
import { decodeLines, decodeLinesInSteps } from "./decode-lines.ts";
import { createRegistry } from "./registry.ts";

const registry = createRegistry(bundledSchemas);
const line = (run: string, size: number) =>
  `{"record_type":"pipeline_end","schema_version":1,"run_id":"${run}","summary":{"pad":"${"x".repeat(size)}"}}\n`;

it("offers pauses between lines and within a long one, and reads them as it does at once", () => {
  const text = [line("a", 10), line("b", 5 << 20), line("c", 10), "torn"].join("");
  const source = { body: Buffer.from(text), file: "", firstLine: 1, offset: 0 };
  const steps = decodeLinesInSteps(source, registry);
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  const { taken, faulty } = step.value;
  expect(taken.map(({ message }) => message.runId)).toEqual(["a", "b", "c"]);
  expect(
    taken.map(({ bytes, digest }) => hash("sha256", bytes, "hex") === Buffer.from(digest).toString("hex")),
  ).toEqual([true, true, true]);
  expect(faulty.map(({ fault }) => fault.code)).toEqual(["line_torn"]);
  const atOnce = decodeLines(source, registry);
  expect(atOnce.taken.map(({ message, digest, at }) => [message.runId, digest, at])).toEqual(
    taken.map(({ message, digest, at }) => [message.runId, Buffer.from(digest), at]),
  );
  expect(pauses).toBeGreaterThan(8);
});
