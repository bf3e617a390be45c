// The walk of the million spans (tests/long), over few enough for every day.

import { expect, test, vi } from "vitest";
import { chromiumPath } from "./browser.ts";
import { openSite } from "./site.ts";
import { checkWalk } from "./timeline-check.ts";

vi.setConfig({ testTimeout: 180_000 });

test.skipIf(chromiumPath === undefined)(
  "zooming into a timeline of 20,000 spans ends at single spans, and no step of it draws more than fits",
  async () => {
    const [server, browser] = await openSite();
    try {
      expect(await checkWalk(server, browser, 20_000)).toBe("seen");
    } finally {
      await browser.close();
      await server.remove();
    }
  },
);
