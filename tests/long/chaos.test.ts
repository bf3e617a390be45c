import { expect, test } from "vitest";
import { runCampaign } from "../chaos/campaign.ts";

test("sixty blows of every kind lose, double, invent and alter nothing [CT-29]", async () => {
  const { verdict } = await runCampaign({ rounds: 60, seed: 60 });
  const { lost, doubled, invented, altered } = verdict;
  expect({ lost, doubled, invented, altered }).toEqual({ lost: [], doubled: [], invented: [], altered: [] });
  expect(verdict.acknowledged).toBeGreaterThan(10_000);
}, 1_800_000);
