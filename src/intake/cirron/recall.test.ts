import { expect, it } from "vitest";
import { Component } from "./component.ts";
import { type ComponentRow, toStateChange } from "./component-state.ts";
import { nobody } from "./needs.ts";
import { type CirronStore, recall, type StoredRow } from "./recall.ts";
import { CirronWorkspace } from "./workspace.ts";

const emptyStore: CirronStore = {
  findGroups: async () => [],
  findRows: async () => [],
  readComponents: async () => [],
  findNear: async () => [],
  findBatches: async () => [],
  readGroups: async () => [],
};

it("asks for the spans above the rows that it was asked for, for each once", async () => {
  const hex = (at: number): string => at.toString(16).padStart(32, "0");
  const groupKey = "default/cirron/batch";
  // Two hundred spans below one whose parent never arrived, and one span far below another.
  const [gone, below, top] = [hex(1), hex(2), hex(9)];
  const parents = new Map<string, string | null>([
    [below, gone],
    ...Array.from({ length: 200 }, (_, at): [string, string] => [hex(1000 + at), below]),
    ...[10, 11, 12, 13].map((at): [string, string] => [hex(at), hex(at - 1)]),
    [top, null],
  ]);
  const asked: string[] = [];
  const store: CirronStore = {
    ...emptyStore,
    findGroups: async (keys) => keys.map((key) => ({ key, groupKey })),
    findRows: async (_, { span }): Promise<StoredRow[]> => {
      asked.push(...span);
      const found = span.filter((id) => parents.has(id));
      return found.map((id) => ({ kind: "span", id, groupKey, hash: 1, parentId: parents.get(id) ?? null }));
    },
  };
  const ids = [...Array.from({ length: 200 }, (_, at) => hex(1000 + at)), hex(13)];
  const needs = {
    ids: ids.map((id, at) => ({ kind: "span" as const, id, key: BigInt(at), time: 1 })),
    ...{ batchIds: [], near: null, facts: nobody },
  };
  const state = new CirronWorkspace("default", 1n);
  await recall(state, store, needs, { losses: state.losses, names: new Set(), batch: false }, new Map());
  expect(asked.slice(ids.length)).toEqual([below, hex(12), gone, hex(11), hex(10), top]);
});

it("takes in nothing of a group that was deleted while it was read", async () => {
  const groupKey = "default/c/batch";
  const state = new CirronWorkspace("default", 1n);
  const { row } = toStateChange(new Component("default", groupKey));
  const store: CirronStore = {
    ...emptyStore,
    findGroups: async (keys) => keys.map((key) => ({ key, groupKey })),
    readComponents: async () => {
      state.forget(new Set([groupKey]));
      return [row as ComponentRow];
    },
  };
  const id = { kind: "span" as const, id: "1".padStart(32, "0"), key: 1n, time: 1 };
  const cleared = { losses: state.losses, names: new Set<string>(), batch: false };
  await recall(state, store, { ids: [id], batchIds: [], near: null, facts: nobody }, cleared, new Map());
  expect(state.components.ofKey(groupKey)).toBeUndefined();
});
