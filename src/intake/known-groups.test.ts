import { expect, test } from "vitest";
import { formatGroupKey, groupKinds } from "#model/group-key.ts";
import type { StateRow } from "#model/state-tables.ts";
import { type GroupCause, KnownGroups, LoadingGroup } from "./known-groups.ts";

const key = formatGroupKey("default", groupKinds.xtrackRun, "own");
const cause = (more: Partial<GroupCause> = {}): GroupCause => ({
  workspace: "default",
  protocol: "xtrack",
  ownId: "own",
  runOverride: null,
  imported: false,
  receivedNs: 1n,
  ...more,
});

/** Two collectors that note arrivals of one group and read each other's row until nothing changes. */
function settle(a: GroupCause, b: GroupCause): string[] {
  const both = [new KnownGroups(), new KnownGroups()] as const;
  let stored: StateRow<"groups"> | undefined;
  const write = (changes: ReturnType<KnownGroups["note"]>) => {
    for (const change of changes) if (change.table === "groups") stored = change.row;
  };
  write(both[0].note(key, a, 1));
  write(both[1].note(key, b, 1));
  for (let round = 0; round < 3; round++)
    for (const groups of both) write(groups.merge(stored as StateRow<"groups">, 9n));
  return [both[0].runOf(key) ?? "", both[1].runOf(key) ?? "", stored?.run_id ?? "", String(stored?.imported)];
}

test("collectors agree on a named run, whichever of them heard the name", () => {
  expect(settle(cause({ runOverride: "named" }), cause())).toEqual(["named", "named", "named", "0"]);
  expect(settle(cause(), cause({ runOverride: "named" }))).toEqual(["named", "named", "named", "0"]);
});

test("collectors agree on the smaller of two names, and on a live arrival", () => {
  const [early, late] = [cause({ runOverride: "a", imported: true }), cause({ runOverride: "b" })];
  expect(settle(early, late)).toEqual(["a", "a", "a", "0"]);
  expect(settle(late, early)).toEqual(["a", "a", "a", "0"]);
});

test("asks for a group that another collector has stored, and knows it then", () => {
  const [first, second] = [new KnownGroups(), new KnownGroups()];
  expect(second.isMissing(key)).toBe(false);
  const [change] = first.note(key, cause({ runOverride: "named" }), 1);
  const row = change?.row as StateRow<"groups">;
  expect(second.merge(row, 9n)).toEqual([]);
  expect(second.isMissing(key)).toBe(true);
  second.load(key, row, new LoadingGroup());
  expect(second.runOf(key)).toBe("named");
  expect(second.note(key, cause(), 2)).toEqual([]);
});

test("a row that is written later has the greater version, also when the clock goes back", () => {
  const groups = new KnownGroups();
  const versionOf = (more: Partial<GroupCause>) =>
    groups.note(key, cause(more), 1).find(({ table }) => table === "groups")?.row.version;
  expect(versionOf({ receivedNs: 100n, imported: true })).toBe(100n);
  expect(versionOf({ receivedNs: 50n, runOverride: "named" })).toBe(101n);
});

test("lets go only of groups whose records are stored, and asks for them again", () => {
  const groups = new KnownGroups();
  groups.note(key, cause(), 3);
  groups.eventsOf(key, "w", 3);
  expect(groups.shrink(0, 2)).toBe(0);
  expect(groups.shrink(0, 3)).toBe(1);
  expect(groups.isMissing(key)).toBe(true);
  expect(groups.isMissing(formatGroupKey("default", groupKinds.xtrackRun, "other"))).toBe(false);
});

test("takes no record of a group that must be read from the store first", () => {
  const groups = new KnownGroups();
  groups.note(key, cause(), 3);
  groups.shrink(0, 3);
  expect(() => groups.note(key, cause(), 4)).toThrow("was not read before");
  groups.load(key, null, new LoadingGroup());
  expect(groups.note(key, cause(), 4)).toHaveLength(2);
});

test("of a run that is too large by itself only the oldest events go, also while it goes on", () => {
  const groups = new KnownGroups();
  groups.note(key, cause(), 1);
  for (let seq = 0; seq < 200_000; seq++) groups.eventsOf(key, "w", 1 + Math.floor(seq / 1000)).add(seq, 0, seq, 0, 7);
  const half = 1_200_000;
  // The last half of it is not stored yet.
  expect(groups.shrink(half, 100)).toBe(0);
  expect(groups.isMissing(key)).toBe(false);
  expect(groups.hasAway(key)).toBe(true);
  const away = groups.awayOf(key, "w");
  expect(away?.windowOf(10, 10)).toBeDefined();
  expect([150_000, 200_000].map((seq) => away?.windowOf(seq, seq))).toEqual([undefined, undefined]);
  expect(groups.eventsOf(key, "w", 201).add(150_000, 0, 150_000, 0, 7)).toBe("duplicate");
  // What came back is known, and what was not asked for still lies where it did.
  const window = away?.windowOf(10, 10);
  const returning = groups.returning(key);
  if (window === undefined || returning === undefined) throw new Error("nothing is away");
  returning.event("w", 10, 0, 10, 0);
  returning.cameBack(window);
  expect(away?.windowOf(10, 10)).toBeUndefined();
  expect(groups.eventsOf(key, "w", 201).add(10, 0, 10, 0, 7)).toBe("duplicate");
});

test("a group that was let go takes nothing back", () => {
  const groups = new KnownGroups();
  groups.note(key, cause(), 1);
  expect(groups.shrink(0, 1)).toBe(1);
  expect(groups.returning(key)).toBeUndefined();
});
