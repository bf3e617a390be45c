import { expect, test } from "vitest";
import { HeardJournals } from "./heard-journals.ts";

test("news that follow one another lead on from what was read", () => {
  const heard = new HeardJournals();
  heard.read("b", 10);
  expect(heard.hear("b", 10, 14)).toBe(true);
  expect(heard.hear("b", 14, 20)).toBe(true);
  // Told again, or of less than is known.
  expect(heard.hear("b", 12, 16)).toBe(true);
  expect(heard.known()).toEqual(new Map([["b", 20]]));
});

test("what lies in a gap is not known until it is read, and what came after the gap is known then", () => {
  const heard = new HeardJournals();
  heard.read("b", 10);
  expect(heard.hear("b", 10, 14)).toBe(true);
  expect(heard.hear("b", 17, 20)).toBe(false);
  expect(heard.hear("b", 20, 25)).toBe(false);
  expect(heard.known()).toEqual(new Map([["b", 14]]));
  heard.read("b", 16);
  expect(heard.known()).toEqual(new Map([["b", 16]]));
  heard.read("b", 18);
  expect(heard.known()).toEqual(new Map([["b", 25]]));
});

test("of a collector that was never read, nothing is known by its news alone", () => {
  const heard = new HeardJournals();
  expect(heard.hear("b", 40, 41)).toBe(false);
  expect(heard.hear("b", 41, 50)).toBe(false);
  expect(heard.known()).toEqual(new Map([["b", -1]]));
  heard.read("b", 45);
  heard.read("c", 3);
  expect(heard.known()).toEqual(
    new Map([
      ["b", 50],
      ["c", 3],
    ]),
  );
});

test("of two gaps, both have to be read", () => {
  const heard = new HeardJournals();
  heard.read("b", 10);
  heard.hear("b", 12, 20);
  heard.hear("b", 23, 30);
  heard.read("b", 15);
  expect(heard.known()).toEqual(new Map([["b", 15]]));
  heard.read("b", 23);
  expect(heard.known()).toEqual(new Map([["b", 30]]));
});
