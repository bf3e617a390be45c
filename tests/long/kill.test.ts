import { test } from "vitest";
import { surviveKills } from "../support/kill-rounds.ts";

test("twenty rounds of kill -9 of the server, of the engine and of both lose and double nothing [CT-29]", async () => {
  await surviveKills(20);
});
