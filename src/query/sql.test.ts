import { afterAll, beforeAll, expect, it } from "vitest";
import { openEmbedded, type StoreUnderTest } from "../../tests/support/store-under-test.ts";
import { answerSql } from "./sql.ts";

let under: StoreUnderTest;
beforeAll(async () => {
  under = await openEmbedded();
});
afterAll(() => under.close());

it("takes a question that was ended from outside for nobody's mistake", async () => {
  const patience = { timeoutMs: 60_000, signal: AbortSignal.abort() };
  await expect(answerSql(under, "SELECT 1", patience)).rejects.toMatchObject({ kind: "cancelled" });
});
