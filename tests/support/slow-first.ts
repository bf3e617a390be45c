// The order of test files: those that start servers, browsers and other programs first, so that none of them is left
// over at the end with one core at work and the others idle. They take turns: collectors that share a store mostly wait for
// each other, a browser and its test for one another, and only the walks of one server keep the cores busy meanwhile.

import { BaseSequencer, type TestSpecification } from "vitest/node";

const slowKinds: readonly (readonly string[])[] = [
  ["/tests/several/"],
  ["/tests/web/"],
  ["/tests/walk/", "/src/store/engine/", "/tests/emit/"],
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Within a kind it stays vitest's own order, which knows how long a file took the last time.
    const kinds = Map.groupBy(await super.sort(files), ({ moduleId }) =>
      slowKinds.find((folders) => folders.some((folder) => moduleId.includes(folder))),
    );
    // All kinds begin and end together, however many files each has.
    const turns = slowKinds.flatMap((kind) => {
      const slow = kinds.get(kind) ?? [];
      return slow.map((file, at) => ({ file, turn: at / slow.length }));
    });
    turns.sort((a, b) => a.turn - b.turn);
    return [...turns.map(({ file }) => file), ...(kinds.get(undefined) ?? [])];
  }
}
