// Rules and what they saw.

import type { Static } from "typebox";
import { ruleKindNames } from "#judge/rule.ts";
import { RunPlace } from "./judge.ts";
import { AsOf, Count, nullable, TimeNs, word } from "./scalar.ts";
import { strict, Type } from "./schema.ts";

export { ruleKindNames };

/** As in tributary.toml: `kind`, `filter`, `when`, `metric`, `for`, `cooldown`, `once`, `webhook`, `command`, its numbers. */
export const RuleText = Type.Record(Type.String(), Type.Unknown());

export const WatchedRule = Type.Object({
  name: Type.String(),
  kind: word(ruleKindNames),
  /** What it looks for, for people. */
  means: Type.String(),
  origin: word(["built-in", "file", "page"]),
  /** Not armed: a dry run, which only tells on the page. */
  armed: Type.Boolean(),
  silenced_until_ns: nullable(TimeNs),
  rule: RuleText,
});
export type WatchedRule = Static<typeof WatchedRule>;

export const RulesAnswer = Type.Object({ watching: Type.Boolean(), rules: Type.Array(WatchedRule), as_of: AsOf });

export const RulePath = Type.Object({ rule: Type.String({ pattern: "^[\\w-]{1,64}$" }) });
export const ArmBody = strict({ armed: Type.Boolean() });
export const SilenceBody = strict({
  seconds: Type.Integer({ minimum: 0, maximum: 31_536_000, description: "0 ends the silence." }),
});

/** A message about a firing to the outside. */
export const Delivery = Type.Object({
  target: Type.String(),
  event: word(["firing", "resolved"]),
  state: word(["queued", "sent", "given_up"]),
  attempts: Count,
  note: Type.String(),
});

export const Alert = Type.Object({
  id: Type.String(),
  run: Type.String(),
  rule: Type.String(),
  kind: word(ruleKindNames),
  armed: Type.Boolean({ description: "If false, this was a dry run: nothing was sent or done." }),
  text: Type.String(),
  evidence: Type.Array(Type.String()),
  at: RunPlace,
  metric: Type.String(),
  fired_ns: TimeNs,
  resolved_ns: nullable(TimeNs),
  /** Commands that it sends when it is armed. */
  commands: Type.Array(Type.String()),
  outcome: Type.String({ description: "The outcome of the commands." }),
  deliveries: Type.Array(Delivery),
});
export type Alert = Static<typeof Alert>;

export const AlertsQuery = Type.Object({
  rule: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
});
export const AlertsAnswer = Type.Object({ alerts: Type.Array(Alert), as_of: AsOf });

export const RuleTestBody = strict({
  name: Type.Optional(Type.String({ description: "An existing rule…" })),
  rule: Type.Optional(RuleText),
  filter: Type.Optional(Type.String({ maxLength: 4096 })),
  runs: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 500, description: "How many of the latest runs; default 20." }),
  ),
});

/** What a rule would have said of a stored run. */
export const TriedRule = Type.Object({
  run: Type.String(),
  name: Type.String(),
  rule: Type.String(),
  fired: Type.Boolean(),
  text: Type.String(),
  evidence: Type.Array(Type.String()),
  at: nullable(RunPlace),
});
export type TriedRule = Static<typeof TriedRule>;
export const TriedAnswer = Type.Object({ tried: Type.Array(TriedRule), fired: Count, as_of: AsOf });

export const GateBody = strict({ rules: Type.Record(Type.String(), RuleText) });
