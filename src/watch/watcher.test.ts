import { expect, test } from "vitest";
import type { Sources } from "#query/sources.ts";
import { RuleBook } from "./rule-book.ts";
import type { WatchPorts } from "./watch-ports.ts";
import { Watcher } from "./watcher.ts";

test("a run that ended is looked at again when the store could not be asked about it", async () => {
  const troubles: string[] = [];
  const away = () => {
    throw new Error("The store is away.");
  };
  const watcher = new Watcher({
    sources: { store: { database: "d", stream: away, answer: away } } as unknown as Sources,
    book: new RuleBook([], 0n),
    nowNs: () => 1n,
    stored: () => 1,
    change: async () => undefined,
    isShared: false,
    isTight: () => false,
    onTrouble: (message: string) => troubles.push(message),
  } as unknown as WatchPorts);
  const run = watcher.watch("default", "r");
  run.isOpen = false;
  await watcher.tick();
  expect(troubles).toHaveLength(1);
  expect(run.isDue).toBe(true);
});
