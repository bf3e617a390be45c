import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { SlowFirst } from "./tests/support/slow-first.ts";

// Long tests (minutes, gigabytes, or many kills) run only by `npm run test:long`, which sets this variable.
const long = process.env["TRIBUTARY_TEST_LONG"] === "1";
const longTests = ["**/*.long.test.ts", "tests/long/**/*.test.ts"];

export default defineConfig({
  test: {
    include: long ? longTests : ["{src,tests,scripts,bench,examples}/**/*.test.ts", "web/src/**/*.test.{ts,tsx}"],
    exclude: ["**/node_modules/**", "**/dist/**", ...(long ? [] : longTests)],
    globalSetup: "tests/support/run-folder.ts",
    // Files that run one after another in a process share its modules: loading them anew costs more than most tests.
    isolate: false,
    // They keep those modules until the end, and every collection of garbage would look through all of them again.
    execArgv: ["--max-semi-space-size=64", "--initial-old-space-size=1024"],
    // Node runs the sources as they are, here as everywhere else: nothing is transformed.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Tests wait for children, sockets and timers about half of their time.
    maxWorkers: availableParallelism() + 3,
    sequence: { sequencer: SlowFirst },
    // The engine is a child process, so a test that starts one waits for a real program to load.
    testTimeout: long ? 600_000 : 120_000,
    hookTimeout: 120_000,
    // What is polled costs the engine or a browser more than a wait does.
    expect: { poll: { interval: 50 } },
  },
});
