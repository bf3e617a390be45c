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

  test("is the rank that its launcher names, whatever the others and the launcher raised after it", () => {
    // As torchrun of PyTorch 2.15 prints it, shortened.
    const told = (exitcode: string, ...before: string[]) =>
      judge({
        exit: { code: 1, signal: "" },
        lines: lines(
          ...before,
          "[rank0]: Traceback (most recent call last):",
          "[rank0]:     dist.all_reduce(parameter.grad)",
          "[rank0]: RuntimeError: Connection closed by peer [127.0.0.1]:30882. This is typically caused by a remote worker",
          "Traceback (most recent call last):",
          '  File "/usr/bin/torchrun", line 8, in <module>',
          "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
          "=======================================================",
          "Failures:",
          "[1]:",
          "  rank      : 0 (local_rank: 0)",
          "  exitcode  : -15 (pid: 12380)  (SIGTERM)",
          "-------------------------------------------------------",
          "Root Cause (first observed failure):",
          "[0]:",
          "  time      : 2026-11-16_03:15:23",
          "  host      : localhost",
          "  rank      : 1 (local_rank: 1)",
          `  exitcode  : ${exitcode}`,
          "  error_file: <N/A>",
        ),
      });
    const killed = told("-9 (pid: 12381)  (SIGKILL)");
    expect(killed).toMatchObject({ cause: "killed", traceback: "" });
    expect(killed.text).toMatch(/^Rank 1 was killed first, with SIGKILL, .*too much memory\.$/);
    expect(told("-11 (pid: 12381)  (SIGSEGV)")).toMatchObject({ cause: "crashed" });
    const raised = [
      "[rank1]: Traceback (most recent call last):",
      "[rank1]:     step()",
      "[rank1]: ValueError: no data",
    ];
    const failed = told("1 (pid: 12381)", ...raised);
    expect(failed.text).toBe("Rank 1 failed first, with exit code 1: ValueError: no data");
    expect(failed.traceback.split("\n")).toHaveLength(3);
    expect(told("1 (pid: 12381)").text).toBe("Rank 1 failed first, with exit code 1.");
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
    const survived = lines("torch.OutOfMemoryError: CUDA out of memory; trying half the batch");
    for (const exit of [null, { code: 0, signal: "" }])
      expect(judge({ status: "completed", exit, lines: survived }).cause).toBe("completed");
    const killed = { code: null, signal: "SIGKILL" };
    expect(judge({ status: "completed", exit: killed, lines: survived }).cause).toBe("out_of_memory");
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

test("a traceback is one of its stream: what was printed to the other meanwhile, or by another worker, is none of it", () => {
  const mixed = [
    ...lines("Traceback (most recent call last):"),
    ...lines("step 11").map((line) => ({ ...line, stream: "stdout" })),
    ...lines('  File "train.py", line 3'),
    ...lines("loss 0.3").map((line) => ({ ...line, worker: "w1" })),
    ...lines("KeyError: 7"),
  ];
  expect(findTraceback(mixed)).toBe('Traceback (most recent call last):\n  File "train.py", line 3\nKeyError: 7');
});

test("lines that tell of trouble are shown, else the last ones", () => {
  expect(judge({ lines: printed }).lines.map(({ text }) => text)).toEqual([
    "Traceback (most recent call last):",
    "ValueError: shapes do not match",
  ]);
  expect(judge({ lines: lines("a", "b") }).lines).toHaveLength(2);
});
