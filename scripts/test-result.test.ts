import { expect, test } from "vitest";
import { afterSecondTry, failedFiles, type Summary, toTestResult } from "./test-result.ts";

function summary(...statuses: string[]): Summary {
  const count = (status: string) => statuses.filter((each) => each === status).length;
  const assertionResults = statuses.map((status, i) => ({ status, fullName: `test ${i}` }));
  const status = count("failed") > 0 ? "failed" : "passed";
  return {
    numPassedTests: count("passed"),
    numFailedTests: count("failed"),
    testResults: [{ name: "a.test.ts", status, assertionResults }],
  };
}

const plain = { status: 0, args: [], all: false, missing: 0 };

test("a name that no test has is a failure, and said", () => {
  for (const args of [["a.test.ts", "-t", "nothing"], ["--testNamePattern=nothing"], ["-t=nothing"]]) {
    const { failed, lines } = toTestResult({ ...plain, args, summary: summary("skipped", "skipped") });
    expect(failed).toBe(1);
    expect(lines).toEqual([expect.stringMatching(/^FAILED: no test of these files has such a name/)]);
  }
});

test("a path that no test file has is a failure, and said", () => {
  const none = { numPassedTests: 0, numFailedTests: 0, testResults: [] };
  expect(toTestResult({ ...plain, args: ["nowhere"], summary: none })).toEqual({
    passed: 0,
    failed: 1,
    lines: ["FAILED: no test file has such a path"],
  });
});

test("tests that another name passes over are not told as skipped, nor counted where all must run", () => {
  const args = ["a.test.ts", "-t", "one"];
  expect(toTestResult({ ...plain, all: true, args, summary: summary("passed", "skipped") })).toEqual({
    passed: 1,
    failed: 0,
    lines: [],
  });
});

test("skipped tests are told, and fail where all must run", () => {
  const both = summary("passed", "skipped", "todo");
  expect(toTestResult({ ...plain, summary: both })).toEqual({ passed: 1, failed: 0, lines: ["SKIPPED: 2 tests"] });
  expect(toTestResult({ ...plain, all: true, missing: 1, summary: both })).toMatchObject({ passed: 1, failed: 3 });
});

test("a file that cannot be loaded counts as one, and so does an error outside any test", () => {
  const unloadable = {
    numPassedTests: 1,
    numFailedTests: 0,
    testResults: [{ name: "a", status: "failed", assertionResults: [] }],
  };
  expect(toTestResult({ ...plain, status: 1, summary: unloadable }).failed).toBe(1);
  expect(toTestResult({ ...plain, status: 1, summary: summary("passed") }).failed).toBe(1);
  expect(toTestResult({ ...plain, status: 1, summary: undefined })).toMatchObject({ passed: 0, failed: 1 });
});

test("a file that failed is run once more, and counts as it ended then", () => {
  const [failed, passed] = [summary("passed", "failed"), summary("passed", "passed")];
  expect(failedFiles(failed)).toEqual(["a.test.ts"]);
  expect(failedFiles(passed)).toEqual([]);
  const other = { name: "b.test.ts", status: "passed", assertionResults: [{ status: "passed", fullName: "b" }] };
  const first = { ...failed, numPassedTests: 2, testResults: [...failed.testResults, other] };
  expect(toTestResult({ ...plain, summary: afterSecondTry(first, passed) })).toMatchObject({ passed: 3, failed: 0 });
  expect(toTestResult({ ...plain, status: 1, summary: afterSecondTry(first, failed) })).toMatchObject({ failed: 1 });
});

test("nothing is run once more when many files failed", () => {
  const file = (name: string) => ({ name, status: "failed", assertionResults: [] });
  const testResults = ["a", "b", "c", "d", "e", "f"].map(file);
  expect(failedFiles({ numPassedTests: 0, numFailedTests: 0, testResults })).toEqual([]);
});
