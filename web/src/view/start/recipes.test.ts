import { expect, test } from "vitest";
import { toRecipes } from "./recipes.ts";

test("lines hold the address clients reach this server at", () => {
  const session = {
    workspace: "default",
    scopes: [],
    key_needed: false,
    version: "1",
    http: "http://10.0.0.5:7077",
    xtrack: { host: "10.0.0.5", port: 9998 },
    command: "/src/tributary/bin/tributary",
  };
  const lines = toRecipes(session, "http://x")
    .flatMap((recipe) => recipe.steps.map((step) => step.line))
    .join("\n");
  expect(lines).toContain("XTRACK_HOST=10.0.0.5 XTRACK_PORT=9998");
  expect(lines).toContain("/src/tributary/bin/tributary run --server http://10.0.0.5:7077 -- python train.py");
  expect(lines).toContain("http://10.0.0.5:7077/v1/trace-stream");
  expect(toRecipes(undefined, "http://here").flatMap((recipe) => recipe.steps)[3]?.line).toContain("http://here");
});
