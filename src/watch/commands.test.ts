import { expect, test } from "vitest";
import { createRoom, runId, workspace } from "#control/room.testing.ts";
import { type CommandPorts, sendCommands } from "./commands.ts";
import type { Firing } from "./firing.ts";

const firing: Firing = {
  ...{ id: "0123456789abcdef01234567", workspace, rule: "stop-on-nan", kind: "nonfinite", runId, isArmed: true },
  ...{ firedNs: 1n, resolvedNs: null, outcome: "", text: "", evidence: [], at: { step: 1n, tsNs: 1n }, metric: "loss" },
  actions: {
    webhooks: [],
    emails: [],
    commands: [
      { type: "checkpoint_now", payload: {} },
      { type: "stop", payload: {} },
    ],
  },
};

test("a rule that is disarmed between two commands does not send the second", async () => {
  const { control } = createRoom();
  let isArmed = true;
  const ports: CommandPorts = {
    control,
    isClosing: () => false,
    isArmed: () => isArmed,
    async wait() {
      isArmed = false;
      for (const { cmdId } of control.list(workspace, runId)) await control.cancel(workspace, runId, cmdId, "ada");
    },
  };
  const about = { status: "running", own: [runId], steered: [runId] } as const;
  const outcome = await sendCommands(ports, firing, { again: false }, about);
  expect(control.list(workspace, runId).map(({ type }) => type)).toEqual(["checkpoint_now"]);
  expect(outcome).toMatch(/^checkpoint_now: .*; stop was not sent: the rule is not armed any more$/);
});
