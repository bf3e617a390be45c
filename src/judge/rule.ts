// Rules: what they look for, with defaults that work without tuning.

import { sayShare, sayTime } from "./words.ts";

export type RuleSource = "track" | "table";

interface KindFacts {
  /** What is watched: the last points of a run as they come, or its row in the table of runs. */
  readonly source: RuleSource;
  /** A description for people. */
  readonly means: string;
  /** Default metrics, as patterns; '' if it looks at none. */
  readonly metric: string;
  /** Its numbers; names of times end in `Ms`. */
  readonly options: Readonly<Record<string, number>>;
  readonly forMs: number;
  /** Whether it can resolve. */
  readonly resolves: boolean;
}

/** Defaults of all kinds. */
const usual = { source: "track", metric: "", options: {}, forMs: 0, resolves: true } as const;
const ofTable = { ...usual, source: "table" } as const;

export const ruleKinds = {
  nonfinite: {
    ...usual,
    means: "a metric is NaN or infinite `count` times in a row",
    metric: "*loss* *grad_norm*",
    options: { count: 3 },
  },
  spike: {
    ...usual,
    means: "`count` values in a row lie `z` robust deviations above the median of the `window` before them",
    metric: "*loss*",
    options: { count: 3, z: 10, window: 100 },
  },
  diverge: {
    ...usual,
    means: "the smoothed metric stays above its best by `factor` for `steps` points",
    metric: "*loss*",
    options: { factor: 1.5, steps: 50 },
  },
  stall: {
    ...usual,
    means: "no new step for `min_ms`, and for `factor` times the median step, while the run is alive",
    options: { min_ms: 120_000, factor: 10 },
  },
  slow: {
    ...usual,
    means: "the median step of the last `window` is `factor` times that of `than`",
    options: { factor: 1.5, window: 50 },
  },
  idle_gpu: {
    ...usual,
    means: "the GPU's utilisation stays below `percent`",
    metric: "system/gpu*_percent *gpu*util*",
    options: { percent: 10, samples: 15 },
    forMs: 600_000,
  },
  straggler: {
    ...usual,
    means: "one rank's steps take `factor` times the median of the others in `share` of the last `windows` windows",
    options: { factor: 1.25, share: 0.8, windows: 10 },
  },
  memory_creep: {
    ...usual,
    means: "memory grows through four quarters of the last `window` points, by `share` in all",
    metric: "*memory_bytes *mem_mb *memory_allocated*",
    options: { share: 0.2, window: 200 },
    resolves: false,
  },
  no_checkpoint: {
    ...usual,
    means: "steps go on and no checkpoint came for `min_ms`",
    options: { min_ms: 7_200_000 },
  },
  threshold: { ...ofTable, means: "the run matches `when`, a filter over any column of the table of runs" },
  gap: {
    ...ofTable,
    means: "more than `count` records are missing",
    options: { count: 0 },
    forMs: 60_000,
  },
  fault: {
    ...ofTable,
    means: "more than `count` records could not be understood",
    options: { count: 0 },
    resolves: false,
  },
  failed: { ...ofTable, means: "the run failed", resolves: false },
  lost: { ...ofTable, means: "the run is silent and reported no end" },
  finished: { ...ofTable, means: "the run completed", resolves: false },
} as const satisfies Readonly<Record<string, KindFacts>>;

export type RuleKind = keyof typeof ruleKinds;
export const ruleKindNames = Object.keys(ruleKinds) as RuleKind[];

export function factsOf(kind: RuleKind): KindFacts {
  return ruleKinds[kind];
}

/** Kinds that are built in, as dry runs. */
export const builtInKinds: readonly RuleKind[] = ruleKindNames.filter(
  (kind) => kind !== "threshold" && kind !== "finished" && kind !== "no_checkpoint" && kind !== "slow",
);

export interface Rule {
  readonly name: string;
  readonly kind: RuleKind;
  /** Which runs it is about, in the filter language of the table of runs; '' for all. */
  readonly filter: string;
  /** For `threshold`: the condition, in the same language. */
  readonly when: string;
  /** For `slow`: the run whose steps are the yardstick; '' for the first steps of the run itself. */
  readonly than: string;
  /** Patterns of metric keys, separated by blanks. */
  readonly metric: string;
  readonly options: Readonly<Record<string, number>>;
  /** How long it must hold without a break. */
  readonly forMs: number;
  /** Without `once`: how long it stays quiet for the same run after it fired. */
  readonly cooldownMs: number;
  readonly once: boolean;
  /** May send commands to a run that already got commands from a rule. */
  readonly again: boolean;
  readonly actions: Actions;
}

export interface Actions {
  readonly webhooks: readonly string[];
  readonly emails: readonly string[];
  /** Sent in this order, each once the previous one is settled. */
  readonly commands: readonly { readonly type: string; readonly payload: Readonly<Record<string, unknown>> }[];
}

export const noActions: Actions = { webhooks: [], emails: [], commands: [] };

export function builtInRules(): Rule[] {
  return builtInKinds.map((kind) => withDefaults({ name: kind, kind }));
}

export function withDefaults(given: Pick<Rule, "name" | "kind"> & Partial<Rule>): Rule {
  const facts = factsOf(given.kind);
  return {
    filter: "",
    when: "",
    than: "",
    metric: facts.metric,
    forMs: facts.forMs,
    cooldownMs: 3_600_000,
    once: true,
    again: false,
    actions: noActions,
    ...given,
    options: { ...facts.options, ...given.options },
  };
}

/** What the rule looks for, as a sentence for people. */
export function sayRule({ kind, when, than, options }: Rule): string {
  return factsOf(kind).means.replaceAll(/`(\w+)`/g, (_, name: string) => {
    if (name === "than") return than === "" ? "the run's first ones" : `the run ${than}`;
    const value = options[name];
    if (value === undefined) return when;
    if (name.endsWith("_ms")) return sayTime(value * 1e6);
    return name === "share" ? sayShare(value) : name === "percent" ? `${value} %` : String(value);
  });
}

/** Patterns with `*` for anything, as regular expressions. */
export function toKeyPatterns(patterns: string): string[] {
  const words = patterns.split(/[\s,]+/).filter((pattern) => pattern !== "");
  return words.map((pattern) => `^${pattern.split("*").map(escapePattern).join(".*")}$`);
}

/** Ignores case. */
export function toKeyTest(patterns: string): (key: string) => boolean {
  const tests = toKeyPatterns(patterns).map((pattern) => new RegExp(pattern, "i"));
  return rememberAnswers((key) => tests.some((test) => test.test(key)));
}

/** As many as one run may have, so that a run which sends all of them at each step is answered from here. */
const keysMax = 100_000;

/** Remembers the answers of a test that is asked for every point, mostly about the same keys. */
export function rememberAnswers(test: (key: string) => boolean): (key: string) => boolean {
  const known = new Map<string, boolean>();
  return (key) => {
    let answer = known.get(key);
    if (answer === undefined) {
      if (known.size >= keysMax) known.clear();
      answer = test(key);
      known.set(key, answer);
    }
    return answer;
  };
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.|?+()[\]{}]/g, "\\$&");
}

/** The condition of a rule over the table of runs, in the filter language; '' if its kind has none. */
export function conditionOf({ kind, when, options }: Rule): string {
  switch (kind) {
    case "threshold":
      return when;
    case "gap":
      return `gaps>${options["count"]}`;
    case "fault":
      return `faults>${options["count"]}`;
    case "failed":
      return "status=failed";
    case "lost":
      return "status=lost";
    case "finished":
      return "status=completed";
    default:
      return "";
  }
}
