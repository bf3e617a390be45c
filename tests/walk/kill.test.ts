import { test } from "vitest";
import { surviveKills } from "../support/kill-rounds.ts";

test("kill -9 of the server, of the engine and of both loses and doubles nothing that was accepted [CT-29]", async () => {
  await surviveKills(2);
}, 120_000);
