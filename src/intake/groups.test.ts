import { expect, test } from "vitest";
import { formatGroupKey, groupKinds } from "#model/group-key.ts";
import type { StateRow } from "#model/state-tables.ts";
import { type GroupCause, PlainGroups } from "./groups.ts";

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
  const both = [new PlainGroups(), new PlainGroups()] as const;
  let stored: StateRow<"groups"> | undefined;
  const write = (changes: ReturnType<PlainGroups["note"]>) => {
    for (const change of changes) if (change.table === "groups") stored = change.row;
  };
  write(both[0].note(key, a));
  write(both[1].note(key, b));
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

test("takes over what another collector knows of a group that is new to it", () => {
  const [first, second] = [new PlainGroups(), new PlainGroups()];
  const [change] = first.note(key, cause({ runOverride: "named" }));
  expect(second.merge(change?.row as StateRow<"groups">, 9n)).toEqual([]);
  expect(second.runOf(key)).toBe("named");
  expect(second.note(key, cause())).toEqual([]);
});
