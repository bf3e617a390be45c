import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { createLog, formatLine } from "./log.ts";

function collect(): { stream: Writable; lines: string[] } {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { stream, lines };
}

it("writes JSON lines for machines, and never a key", () => {
  const { stream, lines } = collect();
  const log = createLog({ level: "info", format: "json", stream });
  log.info({ key: "trib_secret", headers: { authorization: "Bearer trib_secret", cookie: "a" } }, "hello");
  log.debug("not this one");
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain("secret");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "info", msg: "hello" });
});

it("writes short lines for people, with the stack of an error below", () => {
  const line = JSON.stringify({ level: "warn", time: "2026-01-02T03:04:05.678Z", msg: "odd", a: 1, b: "x y" });
  expect(formatLine(line, false)).toBe('03:04:05 warn  odd a=1 b="x y"\n');
  const failed = JSON.stringify({
    level: "error",
    time: "2026-01-02T03:04:05.678Z",
    msg: "no",
    err: { stack: "Error: no\n at x" },
  });
  expect(formatLine(failed, false)).toBe("03:04:05 error no\nError: no\n at x\n");
});
