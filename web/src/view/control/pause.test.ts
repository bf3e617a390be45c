import { expect, test } from "vitest";
import { canPause, canResume } from "./pause.ts";

const confirmed = (type: "pause" | "resume" | "stop") => ({ type, state: "confirmed" }) as const;

test("a job that nobody paused cannot be resumed, whether it says its status or not", () => {
  for (const status of ["", "training"]) {
    expect([canPause(status), canResume(status, [])]).toEqual([true, false]);
    expect(canResume(status, [{ type: "pause", state: "queued" }])).toBe(false);
  }
});

test("a job that says that it waits can be resumed and not paused, whoever paused it", () => {
  expect([canPause("paused"), canResume("paused", [])]).toEqual([false, true]);
});

test("a job that confirmed a pause and does not say its status can be resumed, until it confirms that", () => {
  expect(canResume("", [confirmed("pause"), confirmed("stop")])).toBe(true);
  expect(canResume("", [confirmed("pause"), confirmed("resume")])).toBe(false);
});
