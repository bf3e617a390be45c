// What a run of the tests comes to, out of what vitest wrote about it.

export interface Summary {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

export interface TestRun {
  /** Undefined when vitest wrote none. */
  readonly summary: Summary | undefined;
  /** Its exit code. */
  readonly status: number;
  readonly args: readonly string[];
  /** A test that does not run is a failure. */
  readonly all: boolean;
  /** How many of the programs that tests need are not installed. */
  readonly missing: number;
}

export interface TestResult {
  readonly passed: number;
  readonly failed: number;
  /** What to say before the count. */
  readonly lines: readonly string[];
}

/** More than this many at once did not lose a race. */
const filesOnceMore = 5;

/** The files to run once more by themselves: none when nothing failed, or too much. */
export function failedFiles(summary: Summary | undefined): string[] {
  const names = (summary?.testResults ?? []).filter(({ status }) => status === "failed").map(({ name }) => name);
  return names.length > filesOnceMore ? [] : names;
}

/** What both tries come to: files that were run once more count as they ended then. */
export function afterSecondTry(first: Summary, second: Summary): Summary {
  const rerun = new Set(second.testResults.map(({ name }) => name));
  const testResults = [...first.testResults.filter(({ name }) => !rerun.has(name)), ...second.testResults];
  const count = (status: string) =>
    testResults.flatMap((file) => file.assertionResults).filter((test) => test.status === status).length;
  return { numPassedTests: count("passed"), numFailedTests: count("failed"), testResults };
}

export function toTestResult({ summary, status, args, all, missing }: TestRun): TestResult {
  const results = summary?.testResults ?? [];
  const passed = summary?.numPassedTests ?? 0;
  // A file that fails to load has no tests of its own to count, so it counts as one.
  const unloadable = results.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length;
  const broken = (summary?.numFailedTests ?? 0) + unloadable;
  if (summary !== undefined && results.length === 0) {
    return { passed, failed: 1, lines: ["FAILED: no test file has such a path"] };
  }
  if (isByName(args)) {
    // Vitest calls every test skipped that has another name, and is content when that is all of them.
    const isNone = passed + broken === 0;
    const lines = isNone ? ["FAILED: no test of these files has such a name, or those that have one were skipped"] : [];
    return { passed, failed: isNone ? 1 : broken || Number(status !== 0), lines };
  }
  const skipped = results.flatMap((file) => file.assertionResults.filter((test) => isSkipped(test.status)));
  const failed = broken + (all ? missing + skipped.length : 0);
  const words = all
    ? skipped.map((test) => `FAILED: skipped: ${test.fullName}`)
    : skipped.length > 0
      ? [`SKIPPED: ${skipped.length} tests`]
      : [];
  // An error outside any test leaves vitest's exit code as its only trace.
  return { passed, failed: failed || Number(status !== 0), lines: words };
}

function isByName(args: readonly string[]): boolean {
  return args.some((arg) => arg === "-t" || /^(-t=|--testNamePattern\b|--test-name-pattern\b)/.test(arg));
}

function isSkipped(status: string): boolean {
  return status === "pending" || status === "skipped" || status === "todo";
}
