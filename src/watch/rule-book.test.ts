import { expect, test } from "vitest";
import { readConfig } from "#config/read-config.ts";
import { parseRule } from "./parse-rule.ts";
import { parseFileRules, RuleBook, rulesSetting, type StoredRules } from "./rule-book.ts";

function open(tables: Record<string, object> = {}): { book: RuleBook; store: (rules: StoredRules) => void } {
  const book = new RuleBook(parseFileRules(tables as Record<string, unknown>), 100n);
  return { book, store: (rules) => book.load([{ workspace: "w", value: JSON.stringify(rules) }]) };
}
const find = (book: RuleBook, name: string) => book.find("w", name);

test("the built-in rules are there from the first start, as dry runs that watch from then on", () => {
  const { book } = open();
  expect(find(book, "nonfinite")).toMatchObject({ origin: "built-in", isArmed: false, sinceNs: 100n });
  expect(book.of("w").map(({ rule }) => rule.name)).not.toContain("threshold");
});

test("a rule of the file takes the place of one that is built in, and of one of the page", () => {
  const { book, store } = open({ stall: { min: "30s" }, mine: { kind: "failed" } });
  store(book.withRule("w", parseRule("mine", { kind: "lost" }), 200n));
  expect(find(book, "stall")).toMatchObject({ origin: "file", rule: { options: { min_ms: 30_000 } } });
  expect(find(book, "mine")).toMatchObject({ origin: "file", rule: { kind: "failed" } });
});

test("since when a rule watches is remembered over a restart, so that what came meanwhile is seen", () => {
  const { book, store } = open();
  const stored = book.withSince("w") as StoredRules;
  store(stored);
  expect(book.withSince("w")).toBeNull();
  const later = new RuleBook([parseRule("mine", { kind: "failed" })], 900n);
  later.load([{ workspace: "w", value: JSON.stringify(stored) }]);
  expect(later.find("w", "nonfinite")?.sinceNs).toBe(100n);
  expect(later.find("w", "mine")?.sinceNs).toBe(900n);
});

test("a rule that is made anew is a dry run again, and one that is deleted is gone", () => {
  const { book, store } = open();
  store(book.withRule("w", parseRule("mine", { kind: "failed" }), 200n));
  store(book.with("w", "mine", { armed: true }));
  expect(find(book, "mine")).toMatchObject({ origin: "page", isArmed: true, sinceNs: 200n });
  store(book.withRule("w", parseRule("mine", { kind: "failed", command: "stop" }), 300n));
  expect(find(book, "mine")?.isArmed).toBe(false);
  store(book.without("w", "mine"));
  expect(find(book, "mine")).toBeUndefined();
  expect(book.of("other").every(({ isArmed }) => !isArmed)).toBe(true);
});

test("a stored rule that cannot be read any more is left out", () => {
  const { book, store } = open();
  store({ odd: { rule: { kind: "from the future" }, since_ns: "1" } });
  expect(find(book, "odd")).toBeUndefined();
});

test("a table of rules may stand in the settings", () => {
  expect(rulesSetting).toBe("rules");
  expect(readConfig({ flags: {}, env: {} }).rules).toEqual({});
});

test("says whether what is loaded is other than before, so that a look into the store every few seconds changes nothing", () => {
  const { book } = open();
  const value = JSON.stringify(book.withSince("w"));
  expect(book.load([{ workspace: "w", value }])).toBe(true);
  const before = book.of("w");
  expect(book.load([{ workspace: "w", value }])).toBe(false);
  expect(book.of("w")).toBe(before);
  expect(book.load([{ workspace: "w", value: JSON.stringify(book.with("w", "stall", { armed: true })) }])).toBe(true);
  expect(find(book, "stall")).toMatchObject({ isArmed: true });
});

test("a rule may be called like something that every object has", () => {
  const { book, store } = open({ constructor: { kind: "failed" } });
  expect(find(book, "constructor")).toMatchObject({ origin: "file", isArmed: false, sinceNs: 100n });
  store(book.withSince("w") as StoredRules);
  store(book.with("w", "constructor", { armed: true }));
  expect(find(book, "constructor")).toMatchObject({ isArmed: true, sinceNs: 100n });
});
