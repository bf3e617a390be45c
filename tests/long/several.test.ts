import { describe, expect, test } from "vitest";
import { runSeveral } from "../chaos/several/campaign.ts";
import { natsPath } from "../support/several.ts";

const rounds = Number(process.env["LONG_TEST_ROUNDS"] ?? 60);
const roundMsMax = 30_000;
const judgementMs = 600_000;

describe.skipIf(natsPath === undefined)("three collectors in trouble", () => {
  test(
    `lose, double and invent nothing over ${rounds} kills, stops and cut-offs of every part`,
    async () => {
      const { verdict } = await runSeveral({ rounds, seed: Date.now(), onRound: (line) => console.log(line) });
      expect(verdict).toEqual({ lost: [], doubled: [], invented: [] });
    },
    rounds * roundMsMax + judgementMs,
  );
});
