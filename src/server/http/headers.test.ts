import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { commonHeaders, toPageHeaders } from "./headers.ts";

test("nothing inline is allowed, but for the style a page of ours brings", () => {
  expect(commonHeaders["content-security-policy"]).not.toContain("unsafe-inline");
  const style = "body{margin:0}";
  const hash = createHash("sha256").update(style).digest("base64");
  const policy = toPageHeaders(`<style>${style}</style>`)["content-security-policy"];
  expect(policy).toContain(`style-src 'self' 'sha256-${hash}';`);
  expect(policy).toContain("script-src 'self';");
});
