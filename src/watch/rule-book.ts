// The rules of a workspace: those that are built in, those of tributary.toml, those made on the page; which of them are
// armed and which are silenced. What people set is one setting of the workspace.

import type { ServerNs } from "#base/clock.ts";
import { formatExactly, parseExactly } from "#base/json/exact-integers.ts";
import { OneByOne } from "#base/one-by-one.ts";
import { builtInRules, type Rule } from "#judge/rule.ts";
import type { Workspace } from "#model/names.ts";
import type { StateRow } from "#model/state-tables.ts";
import { formatRule, parseRule, RuleMistake } from "./parse-rule.ts";

export const rulesSetting = "rules";

export type RuleOrigin = "built-in" | "file" | "page";

export interface WatchedRule {
  readonly rule: Rule;
  readonly origin: RuleOrigin;
  readonly isArmed: boolean;
  readonly silencedUntilNs: bigint;
  /** It ignores runs that have received nothing since then. */
  readonly sinceNs: bigint;
}

/** What is stored about a rule; its definition only if it was made on the page. */
interface StoredRule {
  readonly rule?: Record<string, unknown>;
  readonly armed?: boolean;
  readonly silenced_until_ns?: string;
  readonly since_ns: string;
}

export type StoredRules = Readonly<Record<string, StoredRule>>;

/** The rules of a workspace as they are stored. */
interface RulesRow {
  readonly workspace: Workspace;
  readonly value: string;
}

/** Throws a RuleMistake. */
export function parseFileRules(tables: Readonly<Record<string, unknown>>): Rule[] {
  return Object.entries(tables).map(([name, table]) => parseRule(name, table as Record<string, unknown>));
}

export class RuleBook {
  private readonly fileRules: readonly Rule[];
  private readonly startedNs: bigint;
  private readonly workspaces = new Map<string, StoredRules>();
  /** What was loaded, as it was stored. */
  private readonly texts = new Map<string, string>();
  /** Every look asks for them. */
  private readonly known = new Map<string, readonly WatchedRule[]>();

  private readonly turns = new OneByOne();
  /** What is stored now; null if only this process changes it. */
  private readonly readStored: (() => Promise<readonly RulesRow[]>) | null;
  private onChange: (rows: readonly RulesRow[]) => void = () => undefined;

  /** Rules that are new at this start watch what comes from `startedNs` on. */
  constructor(
    fileRules: readonly Rule[],
    startedNs: bigint,
    readStored: (() => Promise<readonly RulesRow[]>) | null = null,
  ) {
    this.fileRules = fileRules;
    this.startedNs = startedNs;
    this.readStored = readStored;
  }

  /** Called with the rows of workspaces whose rules have changed. */
  listen(onChange: (rows: readonly RulesRow[]) => void): void {
    this.onChange = onChange;
  }

  /** Takes over what other collectors have changed. */
  async refresh(): Promise<void> {
    if (this.readStored !== null) this.load(await this.readStored());
  }

  /**
   * The rules of a workspace are stored as a whole, so each change is stored before the next one is worked out, and is
   * worked out from what is stored.
   */
  inTurn(workspace: string, change: () => Promise<void>): Promise<void> {
    return this.turns.run(workspace, async () => {
      await this.refresh();
      await change();
    });
  }

  /** Returns whether anything has changed. */
  load(rows: readonly RulesRow[]): boolean {
    const changed = rows.filter(({ workspace, value }) => this.texts.get(workspace) !== value);
    for (const { workspace, value } of changed) {
      this.texts.set(workspace, value);
      this.workspaces.set(workspace, parseExactly(value) as StoredRules);
      this.known.delete(workspace);
    }
    if (changed.length > 0) this.onChange(changed);
    return changed.length > 0;
  }

  /** By name; a rule of the page or of the file takes the place of one that is built in. */
  of(workspace: string): readonly WatchedRule[] {
    const known = this.known.get(workspace) ?? this.read(workspace);
    this.known.set(workspace, known);
    return known;
  }

  private read(workspace: string): WatchedRule[] {
    const stored = this.workspaces.get(workspace) ?? {};
    const found = new Map<string, { rule: Rule; origin: RuleOrigin }>();
    for (const rule of builtInRules()) found.set(rule.name, { rule, origin: "built-in" });
    for (const [name, one] of Object.entries(stored)) {
      const rule = one.rule === undefined ? null : readStored(name, one.rule);
      if (rule !== null) found.set(name, { rule, origin: "page" });
    }
    for (const rule of this.fileRules) found.set(rule.name, { rule, origin: "file" });
    return [...found.values()]
      .map(({ rule, origin }) => {
        const own = ownOf(stored, rule.name);
        return {
          rule,
          origin,
          isArmed: own?.armed ?? false,
          silencedUntilNs: BigInt(own?.silenced_until_ns ?? 0),
          sinceNs: own === undefined ? this.startedNs : BigInt(own.since_ns),
        };
      })
      .sort((a, b) => (a.rule.name < b.rule.name ? -1 : 1));
  }

  find(workspace: string, name: string): WatchedRule | undefined {
    return this.of(workspace).find(({ rule }) => rule.name === name);
  }

  /** What is still to be stored so that each rule remembers since when it watches; null when nothing is. */
  withSince(workspace: string): StoredRules | null {
    const stored = this.workspaces.get(workspace) ?? {};
    const unseen = this.of(workspace).filter(({ rule }) => ownOf(stored, rule.name) === undefined);
    if (unseen.length === 0) return null;
    return {
      ...stored,
      ...Object.fromEntries(unseen.map(({ rule }) => [rule.name, { since_ns: String(this.startedNs) }])),
    };
  }

  /** Stores since when each rule watches. */
  async noteSince(
    workspace: Workspace,
    nowNs: ServerNs,
    store: (row: StateRow<"settings">) => Promise<void>,
  ): Promise<void> {
    // Most looks find nothing to store, and a turn may ask the store.
    if (this.withSince(workspace) === null) return;
    await this.inTurn(workspace, async () => {
      const unseen = this.withSince(workspace);
      if (unseen === null) return;
      const row = { workspace, name: rulesSetting, value: formatExactly(unseen), author: "rules", version: nowNs };
      await store(row);
      this.load([row]);
    });
  }

  /** What is to be stored when people change a rule. An armed rule that is created again is a dry run again. */
  withRule(workspace: string, rule: Rule, nowNs: bigint): StoredRules {
    const since_ns = String(nowNs);
    return { ...this.workspaces.get(workspace), [rule.name]: { rule: formatRule(rule), since_ns } };
  }

  without(workspace: string, name: string): StoredRules {
    const { [name]: _, ...rest } = this.workspaces.get(workspace) ?? {};
    return rest;
  }

  /** Armed or silenced. */
  with(workspace: string, name: string, change: Pick<StoredRule, "armed" | "silenced_until_ns">): StoredRules {
    const stored = this.workspaces.get(workspace) ?? {};
    return { ...stored, [name]: { since_ns: String(this.startedNs), ...ownOf(stored, name), ...change } };
  }
}

/** A rule may be called `constructor`, which every object has. */
function ownOf(stored: StoredRules, name: string): StoredRule | undefined {
  return Object.hasOwn(stored, name) ? stored[name] : undefined;
}

/** A rule that an older or newer release wrote in other words is left out. */
function readStored(name: string, given: Record<string, unknown>): Rule | null {
  try {
    return parseRule(name, given);
  } catch (error) {
    if (error instanceof RuleMistake) return null;
    throw error;
  }
}
