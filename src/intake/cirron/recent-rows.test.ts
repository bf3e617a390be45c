import { expect, it, vi } from "vitest";
import { FingerprintSet } from "#base/fingerprint-set.ts";
import { toIdWords } from "#intake/id-map.ts";
import { RecentRows, saltId } from "./recent-rows.ts";
import { keyHigh, keyLow } from "./row-ids.ts";

const secondNs = 1e9;
const limits = { generationRows: 4, filtersMax: 1 };

function load(id: string): void {
  toIdWords(new TextEncoder().encode(id));
  saltId("mark");
}

/** Marks of a live job, one a second, each stored as soon as it came. */
function sendMarks(recent: RecentRows, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    load(`mark-${at}`);
    recent.add(0, 1, 0, at * secondNs, at * secondNs);
    recent.note(at);
    if (recent.generationsBeyond(1) > 0) recent.rotate(at);
  }
}

/** Who tells of each of these marks whether it is known. */
function tellers(recent: RecentRows, marks: number): string[] {
  const isInFilter = (): boolean => recent.filters().some((filter) => filter.has(keyLow(), keyHigh()));
  return Array.from({ length: marks }, (_, at) => {
    load(`mark-${at}`);
    if (recent.find() >= 0) return "memory";
    return isInFilter() ? "filter" : recent.mayBeStored(at * secondNs) ? "store" : "nobody";
  });
}

it("knows rows exactly, then by a filter, then by when they were, and what comes after them as new", () => {
  const recent = new RecentRows(new Map(), limits);
  sendMarks(recent, 0, 60);
  expect(tellers(recent, 61)).toEqual([
    ...new Array(48).fill("store"),
    ...new Array(8).fill("filter"),
    ...new Array(4).fill("memory"),
    "nobody",
  ]);
});

it("knows the rows of a filter that is let go by when they were", () => {
  const recent = new RecentRows(new Map(), limits);
  sendMarks(recent, 0, 60);
  recent.dropFilters(1);
  expect(tellers(recent, 61).filter((teller) => teller === "filter")).toHaveLength(8);
  recent.dropFilters(0);
  expect(tellers(recent, 61)).toEqual([...new Array(56).fill("store"), ...new Array(4).fill("memory"), "nobody"]);
});

it("fills the filter of a generation while the next one fills, so that none of it is left when it goes", () => {
  const many = { generationRows: 1000, filtersMax: 1 };
  const recent = new RecentRows(new Map(), many);
  sendMarks(recent, 0, 1999);
  const added = vi.spyOn(FingerprintSet.prototype, "add");
  sendMarks(recent, 1999, 2000);
  expect(added).not.toHaveBeenCalled();
  added.mockRestore();
  expect(new Set(tellers(recent, 1000))).toEqual(new Set(["filter"]));
});

it("fills another filter when the one that it was filling is let go", () => {
  const many = { generationRows: 1000, filtersMax: 1 };
  const recent = new RecentRows(new Map(), many);
  sendMarks(recent, 0, 2500);
  recent.dropFilters(0);
  sendMarks(recent, 2500, 3000);
  const told = tellers(recent, 3001);
  expect(new Set(told.slice(0, 1000))).toEqual(new Set(["store"]));
  expect(new Set(told.slice(1000, 2000))).toEqual(new Set(["filter"]));
  expect(new Set(told.slice(2000, 3000))).toEqual(new Set(["memory"]));
  expect(told[3000]).toBe("nobody");
});

it("asks no filter about a row that begins after all of the filter have ended", () => {
  const recent = new RecentRows(new Map(), limits);
  sendMarks(recent, 0, 12);
  const [filter] = recent.filtersOf(0);
  expect(filter).toMatchObject({ until: 7 * secondNs });
  load("mark-7");
  expect(filter?.ids.has(keyLow(), keyHigh())).toBe(true);
  expect(recent.filtersOf(1)).toEqual([]);
});

it("takes every row for one that may be stored until it is told what is", () => {
  const recent = new RecentRows(null, limits);
  expect(recent.mayBeStored(5 * secondNs)).toBe(true);
  recent.warm(new Map([[0, 4 * secondNs]]), null);
  expect([3, 4, 5].map((at) => recent.mayBeStored(at * secondNs))).toEqual([true, true, false]);
});

it("says how many generations must go: one when the younger is full, both for a share that they are beyond", () => {
  const recent = new RecentRows(new Map(), limits);
  const beyond = (): number[] => [1, 1 / 2, 0].map((share) => recent.generationsBeyond(share));
  expect(beyond()).toEqual([0, 0, 2]);
  const seen = Array.from({ length: 4 }, (_, at) => {
    load(`mark-${at}`);
    recent.add(0, 1, 0, at * secondNs, at * secondNs);
    return beyond();
  });
  expect(seen).toEqual([
    [0, 0, 2],
    [0, 2, 2],
    [0, 2, 2],
    [1, 2, 2],
  ]);
});
