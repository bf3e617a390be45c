// The order of test files: those that start servers, browsers and other programs first, so that none of them is left
// over at the end with one core at work and the others idle. Browsers keep the cores busy and the others often wait for
// something, so they take turns; and not every process stands still while one of them builds the page.

import { BaseSequencer, type TestSpecification } from "vitest/node";

const browserFolder = "/tests/web/";
const slowFolders = ["/tests/several/", "/tests/walk/", "/src/store/engine/", "/tests/emit/"];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = slowFolders.findIndex((folder) => moduleId.includes(folder));
      return at === -1 ? slowFolders.length : at;
    };
    // Both keep vitest's own order where they may, which knows how long a file took the last time.
    const sorted = await super.sort(files);
    const browsers = sorted.filter(({ moduleId }) => moduleId.includes(browserFolder));
    const others = sorted.filter((file) => !browsers.includes(file)).sort((a, b) => rank(a) - rank(b));
    const turns = browsers.flatMap((file, at) => [file, ...others.slice(at, at + 1)]);
    return [...turns, ...others.slice(browsers.length)];
  }
}
