import { expect, it } from "vitest";
import type { StateChange } from "#model/state-tables.ts";
import { UnstoredState } from "./unstored-state.ts";

function toSetting(value: string): StateChange {
  return { table: "settings", row: { workspace: "w", name: "n", value, author: "", version: 1n } };
}

it("has what was applied and is not stored, in order and table by table", () => {
  const state = new UnstoredState();
  const note = (position: number, ...values: string[]) =>
    state.note({ position, applied: { state: values.map(toSetting) } });
  note(1, "a");
  note(2, "b", "c");
  note(5, "d");
  const values = () => state.of("settings").map(({ position, row }) => [position, row.value]);
  expect(values()).toEqual([
    [1, "a"],
    [2, "b"],
    [2, "c"],
    [5, "d"],
  ]);
  expect(state.of("keys")).toEqual([]);
  state.stored(4);
  expect(values()).toEqual([[5, "d"]]);
  state.stored(9);
  expect(values()).toEqual([]);
});
