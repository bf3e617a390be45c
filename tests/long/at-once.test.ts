import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AtOnce } from "../chaos/several/at-once.ts";
import { natsPath, openPair, type Pair } from "../support/several.ts";

const rounds = Number(process.env["LONG_TEST_ROUNDS"] ?? 60);
const roundMsMax = 130_000;

let pair: Pair;

describe.skipIf(natsPath === undefined)("two collectors", () => {
  beforeAll(async () => {
    pair = await openPair();
  });
  afterAll(() => pair?.remove());

  test(
    `give the same right answers after each of ${rounds} rounds in which people did much at both at once`,
    async () => {
      const seed = Date.now() % 100_000;
      console.log(`seed ${seed}`);
      const run = new AtOnce(pair, seed).run(rounds, (line) => console.log(line));
      await expect(run).resolves.toBeUndefined();
    },
    rounds * roundMsMax,
  );
});
