import { expect, test } from "vitest";
import { runCampaign } from "../chaos/campaign.ts";

// The others take seconds each, or root and strace.
const calm = ["kill the server", "kill the engine", "kill both", "stop and start", "tear the journal's tail"];

test("clients of all protocols lose and double nothing while server and engine are killed [CT-29]", async () => {
  const { verdict } = await runCampaign({ rounds: 5, seed: 5, only: calm });
  const { lost, doubled, invented, altered } = verdict;
  expect({ lost, doubled, invented, altered }).toEqual({ lost: [], doubled: [], invented: [], altered: [] });
  expect(verdict.acknowledged).toBeGreaterThan(500);
}, 300_000);
