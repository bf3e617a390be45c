// A real collector in a temporary folder, with the real engine.

import { rm } from "node:fs/promises";
import { nowNs } from "#base/clock.ts";
import { readConfig } from "#config/read-config.ts";
import type { AppliedInput } from "#intake/gathering.ts";
import type { Input } from "#intake/input.ts";
import type { Receipt } from "#intake/sequencer.ts";
import { type Collector, type CollectorOptions, openCollector } from "#server/collector/collector.ts";
import { makeMigratedFolder } from "./migrated-folder.ts";

export interface TestCollector {
  readonly dataDir: string;
  collector: Collector;
  /** Closes and opens the same folder again. */
  reopen(): Promise<Collector>;
  remove(): Promise<void>;
}

type Listener = (applied: AppliedInput) => void;

/** `listen` is asked for the collector's first listener each time the folder is opened. */
export async function createTestCollector(
  listen: () => Listener = () => () => undefined,
  more: Partial<CollectorOptions> = {},
): Promise<TestCollector> {
  const dataDir = await makeMigratedFolder();
  const test: TestCollector = {
    dataDir,
    collector: await openTestCollector(dataDir, listen(), more),
    async reopen() {
      await test.collector.close(5000);
      test.collector = await openTestCollector(dataDir, listen(), more);
      return test.collector;
    },
    async remove() {
      await test.collector.close(5000);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return test;
}

export function openTestCollector(
  dataDir: string,
  listener: Listener,
  more: Partial<CollectorOptions> = {},
): Promise<Collector> {
  return openCollector({
    config: readConfig({ flags: { dataDir }, env: {} }),
    store: { kind: "embedded", dataDir },
    listeners: [listener],
    onTrouble: (message, cause) => console.error(message, cause),
    onFatal: (cause) => {
      throw cause;
    },
    ...more,
  });
}

export function cirronInput(body: Uint8Array, more: Partial<Input> = {}): Input {
  return {
    kind: "cirron_batch",
    workspace: "default",
    transport: "http",
    source: "test",
    runOverride: null,
    imported: false,
    receivedNs: nowNs(),
    body,
    ...more,
  } as Input;
}

export async function submitted(collector: Collector, input: Input): Promise<Receipt> {
  const result = collector.submit(input);
  if (typeof result === "string") throw new Error(result);
  return result.applied;
}
