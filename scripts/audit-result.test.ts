import { expect, test } from "vitest";
import { judgeAudit } from "./audit-result.ts";

test("a report without vulnerabilities is clean", () => {
  expect(judgeAudit('{"auditReportVersion":2,"vulnerabilities":{}}').kind).toBe("clean");
});

test("holes are named with how bad they are", () => {
  const report = { auditReportVersion: 2, vulnerabilities: { ws: { severity: "high" }, ajv: { severity: "low" } } };
  const { kind, sentence } = judgeAudit(JSON.stringify(report));
  expect([kind, sentence]).toEqual(["holes", expect.stringContaining("ws (high), ajv (low)")]);
});

test.each([
  ['{"message":"405 Method Not Allowed","statusCode":405,"error":{}}', "answered 405"],
  ["<html>proxy</html>", "gave no answer"],
  ["", "gave no answer"],
])("a registry that cannot be asked is said, and is neither clean nor a hole: %s", (output, words) => {
  const { kind, sentence } = judgeAudit(output);
  expect(kind).toBe("unknown");
  expect(sentence).toContain(words);
  expect(sentence).toContain("NOT");
});
