import { expect, test } from "vitest";
import type { Firing } from "./firing.ts";
import { bodyFor, toSignature } from "./messages.ts";

const firing: Firing = {
  id: "0123456789abcdef01234567",
  workspace: "default",
  rule: "stop-on-nan",
  kind: "nonfinite",
  runId: "r1",
  isArmed: true,
  firedNs: 1_794_710_000_000_000_000n,
  resolvedNs: null,
  actions: {
    webhooks: [],
    emails: [],
    commands: [
      { type: "checkpoint_now", payload: {} },
      { type: "stop", payload: {} },
    ],
  },
  outcome: "",
  text: "loss is not finite from step 812 on.",
  evidence: ["3 points in a row"],
  at: { step: 812n, tsNs: 1n },
  metric: "loss",
};
const message = { event: "firing", firing, runName: "gpt", link: "https://t.example/runs/r1" } as const;

test("the receiver's address tells which words it wants", () => {
  expect(bodyFor("https://hooks.slack.com/services/T/B/x", message)["text"]).toContain("Firing: stop-on-nan on gpt");
  expect(bodyFor("https://discord.com/api/webhooks/1/x", message)["content"]).toContain("checkpoint_now, then stop");
  expect(bodyFor("https://x.webhook.office.com/y", message)).toMatchObject({ type: "message" });
  expect(bodyFor("https://alerts.example/", message)).toMatchObject({ version: "4", status: "firing" });
});

test("a text that is cut for Discord is still Unicode", () => {
  const long = { ...message, firing: { ...firing, text: "🙂".repeat(2000) } };
  expect((bodyFor("https://discord.com/api/webhooks/1/x", long)["content"] as string).isWellFormed()).toBe(true);
});

test("Alertmanager's receivers find what they look for", () => {
  const body = bodyFor("https://alerts.example/", {
    ...message,
    event: "resolved",
    firing: { ...firing, resolvedNs: firing.firedNs + 1_000_000_000n },
  });
  expect(body).toMatchObject({
    version: "4",
    status: "resolved",
    commonLabels: { alertname: "stop-on-nan", run: "r1", run_name: "gpt", metric: "loss" },
    alerts: [
      {
        status: "resolved",
        annotations: { summary: firing.text, step: "812" },
        startsAt: "2026-11-15T02:33:20.000Z",
        endsAt: "2026-11-15T02:33:21.000Z",
        generatorURL: message.link,
      },
    ],
  });
});

test("a signature covers the time and the body", () => {
  const secret = new Uint8Array(32).fill(7);
  const sign = toSignature("{}", secret, 1_000_000);
  expect(sign).toMatch(/^t=1000,v1=[0-9a-f]{64}$/);
  expect(toSignature("{} ", secret, 1_000_000)).not.toBe(sign);
  expect(toSignature("{}", secret, 2_000_000)).not.toBe(sign);
});
