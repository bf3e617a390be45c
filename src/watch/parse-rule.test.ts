import { expect, test } from "vitest";
import { ruleKindNames } from "#judge/rule.ts";
import { formatRule, parseRule } from "./parse-rule.ts";

test("a rule needs no more than its kind, which may be its name", () => {
  expect(parseRule("stall", {})).toMatchObject({ kind: "stall", options: { min_ms: 120_000, factor: 10 }, once: true });
  for (const kind of ruleKindNames.filter((one) => one !== "threshold"))
    expect(parseRule("mine", { kind })).toMatchObject({ kind, name: "mine" });
});

test("times are written as times, and commands in their order", () => {
  const rule = parseRule("stop", {
    kind: "stall",
    min: "30s",
    for: "1m",
    cooldown: "2h",
    once: false,
    filter: "tags:gpu",
    webhook: "https://hooks.example/x",
    email: ["ada@example.org"],
    command: ["checkpoint_now", "adjust_lr"],
    payload: { lr: 0.001 },
  });
  expect(rule).toMatchObject({ forMs: 60_000, cooldownMs: 7_200_000, once: false, options: { min_ms: 30_000 } });
  expect(rule.actions.commands).toEqual([
    { type: "checkpoint_now", payload: {} },
    { type: "adjust_lr", payload: { lr: 0.001 } },
  ]);
  expect(parseRule("stop", formatRule(rule))).toEqual(rule);
});

test.each([
  [{ kind: "nan" }, "needs a `kind`"],
  [{ kind: "stall", minimum: "1s" }, "has no `minimum`"],
  [{ kind: "stall", min: "soon" }, "must be a time"],
  [{ kind: "spike", z: -1 }, "must be a number"],
  [{ kind: "spike", count: 0 }, "`count` of the rule x must be a whole number from 1 to 512"],
  [{ kind: "spike", window: 2.5 }, "`window` of the rule x must be a whole number from 1 to 512"],
  [{ kind: "memory_creep", window: 600 }, "`window` of the rule x must be a whole number from 1 to 512"],
  [{ kind: "stall", for: 1.5 }, "must be a time"],
  [{ kind: "stall", for: Number.POSITIVE_INFINITY }, "must be a time"],
  [{ kind: "failed", once: "no" }, "`once` of the rule x must be true or false"],
  [{ kind: "failed", filter: "status:" }, "`filter` of the rule x"],
  [{ kind: "threshold" }, "needs `when`"],
  [{ kind: "failed", webhook: "file:///etc/passwd" }, "must be a URL"],
  [{ kind: "failed", email: "a@b\r\nRCPT TO:<c@d>" }, "must be an address"],
  [{ kind: "failed", command: "explode" }, "`command` of the rule x"],
])("%j is refused with a sentence", (given, message) => {
  expect(() => parseRule("x", given)).toThrow(message);
});
