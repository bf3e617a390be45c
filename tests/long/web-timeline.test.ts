// A million spans in the browser: what it shows is right at every zoom. How fast its frames are is bench/web.ts.

import { expect, test } from "vitest";
import { chromiumPath } from "../web/browser.ts";
import { openSite } from "../web/site.ts";
import { checkWalk } from "../web/timeline-check.ts";

test.skipIf(chromiumPath === undefined)(
  "zooming into a timeline of 1,000,000 spans ends at single spans, and no step of it draws more than fits",
  async () => {
    const [server, browser] = await openSite();
    try {
      expect(await checkWalk(server, browser, 1_000_000)).toBe("seen");
    } finally {
      await browser.close();
      await server.remove();
    }
  },
);
