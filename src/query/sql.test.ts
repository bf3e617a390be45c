import { expect, it } from "vitest";
import { openEmbedded, suiteStore } from "../../tests/support/store-under-test.ts";
import { answerSql } from "./sql.ts";

const store = suiteStore(openEmbedded);

it("takes a question that was ended from outside for nobody's mistake", async () => {
  const patience = { timeoutMs: 60_000, signal: AbortSignal.abort() };
  await expect(answerSql({ store }, "SELECT 1", patience)).rejects.toMatchObject({ kind: "cancelled" });
});
