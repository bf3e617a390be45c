import { expect, it } from "vitest";
import { sumLines, toLicences, toProvenance } from "./release-texts.ts";

it("lists what each part is licensed under, also where nothing or an expression is stated", () => {
  const text = toLicences({
    components: [
      { name: "a", version: "1", licenses: [{ license: { id: "MIT" } }] },
      { name: "b", version: "2", licenses: [{ expression: "MIT OR ISC" }] },
      { name: "c", version: "3" },
    ],
  });
  expect(text.split("\n").slice(-4, -1)).toEqual([
    "| a | 1 | MIT |",
    "| b | 2 | MIT OR ISC |",
    "| c | 3 | not stated |",
  ]);
});

it("says what was built from which commit and lock file", () => {
  const at = new Date(0);
  const built = {
    archive: "t.tgz",
    sha256: "ab",
    commit: "c0",
    lock: "1f",
    node: "v24",
    startedOn: at,
    finishedOn: at,
  };
  expect(toProvenance(built)).toMatchObject({
    subject: [{ name: "t.tgz", digest: { sha256: "ab" } }],
    predicate: {
      buildDefinition: { resolvedDependencies: [{ digest: { gitCommit: "c0" } }, { digest: { sha256: "1f" } }] },
    },
  });
});

it("writes checksums as sha256sum reads them", () => {
  expect(
    sumLines([
      ["a", "00"],
      ["b", "11"],
    ]),
  ).toBe("00  a\n11  b\n");
});
