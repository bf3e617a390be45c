// All lines of a body at once, for tests that look at each of them.

import { atOnce } from "#base/turns.ts";
import {
  decodeLinesInSteps,
  type FaultyLine,
  type LineLimits,
  type LinesSource,
  type TakenLine,
} from "./decode-lines.ts";
import type { Registry } from "./registry.ts";

export interface ReadLines {
  readonly taken: readonly TakenLine[];
  readonly faulty: readonly FaultyLine[];
}

export function* gatherLines(source: LinesSource, registry: Registry, limits?: LineLimits): Generator<void, ReadLines> {
  const taken: TakenLine[] = [];
  const take = (line: TakenLine): null => {
    taken.push(line);
    return null;
  };
  const faulty = yield* decodeLinesInSteps(source, registry, take, limits);
  return { taken, faulty };
}

export function decodeLines(source: LinesSource, registry: Registry, limits?: LineLimits): ReadLines {
  return atOnce(gatherLines(source, registry, limits));
}
