// The order of test files: those that start servers, browsers and other programs first, so that none of them is left
// over at the end with one core at work and the others idle.

import { BaseSequencer, type TestSpecification } from "vitest/node";

const slowFolders = ["/tests/web/", "/tests/walk/", "/tests/several/", "/src/store/engine/", "/tests/emit/"];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = slowFolders.findIndex((folder) => moduleId.includes(folder));
      return at === -1 ? slowFolders.length : at;
    };
    // The sort is stable: inside a folder vitest's own order stays, which knows how long a file took the last time.
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
