import { expect, it } from "vitest";
import { askStore } from "../../tests/support/ask-store.ts";
import { openEmbedded } from "../../tests/support/store-under-test.ts";
import { tellOldServer, toOldServerSentence } from "./engine-version.ts";

it.each(["24.8.14.39", "26.6.1.1", "18.16.1"])(
  "tells of a server of %s, which is older than what was tried",
  (version) => {
    expect(toOldServerSentence(version)).toContain(version);
  },
);

it.each(["26.7.2.1", "26.12.1", "27.1.1.1"])("says nothing of %s", (version) => {
  expect(toOldServerSentence(version)).toBe(null);
});

it("is made with no newer release than the embedded engine is", async () => {
  const { store, close } = await openEmbedded();
  const [row] = await askStore<{ version: string }>(store, { sql: "SELECT version() AS version" });
  expect(toOldServerSentence(row?.version ?? "")).toBe(null);
  expect(await tellOldServer(store)).toBe(null);
  await close();
});
