import { expect, it } from "vitest";
import { formatGroupKey, groupKinds } from "#model/group-key.ts";
import { IntakeState } from "./intake-state.ts";
import type { IntakeStore } from "./intake-store.ts";
import { LoadingGroup } from "./known-groups.ts";

it("tells which groups runs have now: stored ones that have not moved, and those that are not stored yet", () => {
  // Memory knows everything here, so the store is asked nothing.
  const state = new IntakeState({ store: {} as IntakeStore, sessionGapNs: 0n, isFresh: true });
  const keyOf = (ownId: string, workspace = "default") => formatGroupKey(workspace, groupKinds.xtrackRun, ownId);
  const note = (ownId: string, runOverride: string | null, workspace = "default") => {
    const cause = { workspace, protocol: "xtrack", ownId, runOverride, imported: false, receivedNs: 1n };
    state.groups.note(keyOf(ownId, workspace), cause, 1);
  };
  note("kept", "a");
  note("moved", "b");
  note("fresh", "a");
  note("fresh", "a", "other");
  const stored = new Map([["a", [keyOf("kept"), keyOf("moved"), keyOf("let-go")]]]);
  expect(state.groupsNow("default", stored)).toEqual(
    new Map([["a", [keyOf("kept"), keyOf("let-go"), keyOf("fresh")]]]),
  );
});

it("forgets a group that was deleted while it was read from the store, and reads it again", async () => {
  const key = formatGroupKey("default", groupKinds.xtrackRun, "run");
  const reads: PromiseWithResolvers<void>[] = [];
  const store = {
    async readKnownGroup() {
      const read = Promise.withResolvers<void>();
      reads.push(read);
      await read.promise;
      return { row: null, loading: new LoadingGroup() };
    },
  } as unknown as IntakeStore;
  const state = new IntakeState({ store, sessionGapNs: 0n, isFresh: false });
  const first = state.prepareGroups([key]);
  state.forget([key]);
  const second = state.prepareGroups([key]);
  reads[0]?.resolve();
  await first;
  expect(state.groups.isMissing(key)).toBe(true);
  reads[1]?.resolve();
  await second;
  expect(state.groups.isMissing(key)).toBe(false);
});
