import { describe, expect, test } from "vitest";
import { type DeathEvidence, findTraceback, judgeDeath } from "./death.ts";

const nothing: DeathEvidence = { status: "failed", exit: null, error: null, lines: [], reports: [], records: [] };
const lines = (...texts: string[]) =>
  texts.map((text, at) => ({ tsNs: BigInt(at), worker: "", level: "", stream: "stderr", text }));
const judge = (evidence: Partial<DeathEvidence>) => judgeDeath({ ...nothing, ...evidence });

const printed = lines(
  "step 811",
  "Traceback (most recent call last):",
  '  File "train.py", line 88, in <module>',
  "    step()",
  "ValueError: shapes do not match",
  "[W] cleaning up",
);

describe("the cause of a death", () => {
  test("is memory where a line says so, before anything else", () => {
    const found = judge({
      exit: { code: 1, signal: "" },
      lines: lines("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
    });
    expect(found).toMatchObject({ cause: "out_of_memory", text: "It ran out of the GPU's memory." });
    expect(found.evidence).toEqual([
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
      "exit code 1",
    ]);
    expect(judge({ error: { type: "MemoryError", message: "", traceback: "" } }).cause).toBe("out_of_memory");
  });

  test("is a guess, and called so, when only SIGKILL is known", () => {
    const found = judge({ status: "killed", exit: { code: null, signal: "SIGKILL" } });
    expect(found.cause).toBe("killed");
    expect(found.text).toContain("too much memory");
    expect(found.evidence.join()).toContain("kernel's log");
  });

  test("is the exception that was printed, with its traceback", () => {
    const found = judge({ exit: { code: 1, signal: "" }, lines: printed });
    expect(found).toMatchObject({ cause: "exception", text: "It raised ValueError: shapes do not match" });
    expect(found.traceback.split("\n")).toHaveLength(4);
  });

  test("is what the client reported, before what it printed", () => {
    const error = { type: "RuntimeError", message: "no data", traceback: "Traceback…\nRuntimeError: no data" };
    expect(judge({ error, lines: printed }).text).toBe("It raised RuntimeError: no data");
  });

  test("is the rank that failed first", () => {
    const report = (rank: number, tsNs: bigint) => ({ rank, tsNs, message: `boom ${rank}`, traceback: "" });
    expect(judge({ reports: [report(0, 20n), report(3, 10n)] }).text).toBe("Rank 3 failed first: boom 3");
  });

  test("is a crash, a signal from outside, an exit code or silence, in that order of knowledge", () => {
    expect(judge({ exit: { code: null, signal: "SIGSEGV" } })).toMatchObject({ cause: "crashed" });
    expect(judge({ exit: { code: null, signal: "SIGTERM" } })).toMatchObject({ cause: "killed" });
    expect(judge({ exit: { code: 3, signal: "" } }).text).toBe("It exited with code 3 and gave no reason.");
    expect(judge({ status: "lost", lines: lines("step 9") }).evidence).toEqual(["its last line was: step 9"]);
    expect(judge({ status: "unknown" }).cause).toBe("unknown");
  });

  test("is none for a run that goes on or completed", () => {
    expect(judge({ status: "running" }).cause).toBe("alive");
    expect(judge({ status: "completed", exit: { code: 0, signal: "" } }).cause).toBe("completed");
  });
});

test("a traceback is found behind what a launcher puts in front of each line, and between the lines of other ranks", () => {
  const mixed = lines(
    "[rank1]: Traceback (most recent call last):",
    "[rank0]: still fine",
    '[rank1]:   File "train.py", line 3',
    "[rank1]: RuntimeError: rank one",
    "[rank0]: bye",
  );
  expect(findTraceback(mixed)).toBe(
    'Traceback (most recent call last):\n  File "train.py", line 3\nRuntimeError: rank one',
  );
});

test("lines that tell of trouble are shown, else the last ones", () => {
  expect(judge({ lines: printed }).lines.map(({ text }) => text)).toEqual([
    "Traceback (most recent call last):",
    "ValueError: shapes do not match",
  ]);
  expect(judge({ lines: lines("a", "b") }).lines).toHaveLength(2);
});
