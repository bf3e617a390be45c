import { expect, test } from "vitest";
import { spanColour, spanColours } from "./span-colours.ts";

test("a name has one colour, whichever panel asks first and however many names follow", () => {
  const early = spanColour("r", "backward", "light");
  const all = spanColours("r", ["step", "epoch", "session", "backward", "forward", "data_load"], "light");
  expect(all.get("backward")).toBe(early);
  expect(new Set(all.values()).size).toBe(6);
  expect(spanColour("r", "epoch", "light")).toBe(all.get("epoch"));
  const more = Array.from({ length: 40 }, (_, i) => `name ${i}`);
  spanColours("r", more, "light");
  expect(spanColour("r", "epoch", "light")).toBe(all.get("epoch"));
});
