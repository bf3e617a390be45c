import { expect, it } from "vitest";
import { readCopiedTo } from "#store/metrics-by-key.ts";
import { blockOf } from "../../../tests/support/fact-rows.ts";
import { openMigrated, suiteStore } from "../../../tests/support/store-under-test.ts";
import { keepByKey } from "./keep-by-key.ts";

const store = suiteStore(openMigrated);

it("copies nothing while rows are being deleted, and nothing more once it is closed", async () => {
  const byKey = keepByKey(store, (message, cause) => {
    throw new Error(message, { cause });
  });
  const insert = (step: bigint) =>
    store.insert("metrics", blockOf("metrics", [{ group_key: "w/x/a", key: "loss", step, value: 1 }]), {
      token: `t${step}`,
    });
  await insert(1n);
  const gate = Promise.withResolvers<void>();
  const deletion = byKey.apart(async () => {
    await gate.promise;
    return readCopiedTo(store);
  });
  const copying = byKey.copy();
  gate.resolve();
  expect(await deletion).toBe(0);
  await copying;
  expect(await readCopiedTo(store)).toBe(1);
  // A deletion that fails keeps nobody from copying.
  await expect(byKey.apart(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await insert(2n);
  await byKey.copy();
  expect(await readCopiedTo(store)).toBe(2);
  byKey.close();
  await insert(3n);
  await byKey.copy();
  expect(await readCopiedTo(store)).toBe(2);
});
