import { expect, test } from "vitest";
import { runCampaign } from "../chaos/campaign.ts";

// The others take seconds each, or root and strace.
const calm = ["kill the server", "kill the engine", "kill both", "stop and start", "tear the journal's tail"];
const hourAndBackup = ["trouble the engine for an hour", "take a whole backup"];
// Clients at full speed would keep the machine busy with what the blows are not about.
const pauseMs = 400;
const nothing = { lost: [], doubled: [], invented: [], altered: [] };

test("clients of all protocols lose and double nothing while server and engine are killed [CT-29]", async () => {
  const { verdict } = await runCampaign({ rounds: 5, seed: 5, only: calm, pauseMs });
  expect(verdict).toMatchObject(nothing);
  expect(verdict.acknowledged).toBeGreaterThan(500);
}, 300_000);

test("an hour of an engine that is slow, stands still and refuses loses and doubles nothing, in a backup neither", async () => {
  const { verdict, backups } = await runCampaign({ rounds: 2, seed: 1, only: hourAndBackup, isInOrder: true, pauseMs });
  expect(verdict).toMatchObject(nothing);
  expect(verdict.acknowledged).toBeGreaterThan(500);
  expect([backups.whole > 0, backups.late]).toEqual([true, 0]);
}, 300_000);
