import { expect, test } from "vitest";
import { durationParts, toSentence } from "./run-sentence.ts";

const run = {
  status: "running" as const,
  status_raw: "training",
  start_ns: "1000000000000000000",
  end_ns: null,
  updated_ns: "1000000100000000000",
  duration_ns: null,
  progress: { current: 250, total: 1000, unit: "steps", message: "" },
  error: "",
  error_detail: null,
};
const nowMs = 1_000_000_100_000;

test("a running run says how far it is and when it will be done", () => {
  expect(toSentence(run, nowMs).text).toMatch(/^Running, 25 % of 1000 steps, done in about 5 m 00 s \(\d\d:\d\d\)\.$/);
  expect(toSentence({ ...run, progress: null }, nowMs).text).toBe("Running.");
  expect(toSentence({ ...run, status_raw: "paused" }, nowMs).text).toBe("Paused, 25 % of 1000 steps.");
});

test("an ended run says how, after how long, and whether it stopped early", () => {
  const ended = { ...run, duration_ns: "6980000000", status: "completed" as const };
  expect(toSentence(ended, nowMs).text).toBe("Completed after 6.98 s at 25 % of what was planned.");
  expect(toSentence({ ...ended, progress: null }, nowMs).text).toBe("Completed after 6.98 s.");
  expect(toSentence({ ...ended, status: "failed", error: "out of memory." }, nowMs).text).toBe(
    "Failed after 6.98 s: out of memory.",
  );
  const error_detail = { type: "", message: "out of memory.", traceback: "" };
  const told = { ...ended, status: "failed" as const, error: "out of memory.", error_detail };
  expect(toSentence(told, nowMs).text).toBe("Failed after 6.98 s.");
  const long = toSentence({ ...ended, status: "failed", error: "again and again. ".repeat(50) }, nowMs).text;
  expect([long.length < 200, long.endsWith("….")]).toEqual([true, true]);
  expect(toSentence({ ...run, status: "unknown" }, nowMs).text).toBe("How it ended is not known.");
});

test("an end before the start is minded", () => {
  const { cautions } = toSentence({ ...run, end_ns: "999999999000000000" }, nowMs);
  expect(cautions).toEqual(["it ends before it starts"]);
  expect(toSentence(run, nowMs).cautions).toEqual([]);
});

test("a duration is said once where its measures agree, and else with what measured it", () => {
  const measured = { worker: "", clock_ns: "6980000000", arrival_ns: "0", said_ms: "6981.2" };
  expect(durationParts(measured)).toBe("6.98 s");
  expect(durationParts({ ...measured, arrival_ns: "9000000000" })).toBe(
    "6.98 s by its clock, 9.00 s between arrivals, 6.98 s as reported",
  );
  expect(durationParts({ ...measured, said_ms: null })).toBe("6.98 s");
});
