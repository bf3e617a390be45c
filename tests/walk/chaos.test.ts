import { expect, test } from "vitest";
import { blows } from "../chaos/blows.ts";
import { runCampaign } from "../chaos/campaign.ts";

const calm = Object.keys(blows).filter((name) => !name.startsWith("freeze"));

test("clients of all protocols lose and double nothing while server and engine are killed [CT-29]", async () => {
  const { verdict } = await runCampaign({ rounds: 5, seed: 5, only: calm });
  const { lost, doubled, invented, altered } = verdict;
  expect({ lost, doubled, invented, altered }).toEqual({ lost: [], doubled: [], invented: [], altered: [] });
  expect(verdict.acknowledged).toBeGreaterThan(500);
}, 120_000);
