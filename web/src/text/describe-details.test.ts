import { expect, test } from "vitest";
import { describeDetails } from "./describe-details.ts";

test("an error that stands alone is said as it is", () => {
  expect(describeDetails('{"error":"Division by zero is not allowed"}')).toBe("Division by zero is not allowed");
});

test("several details are named, and lists of names need no brackets", () => {
  expect(describeDetails('{"expected_keys":["factor","path"],"missing_keys":[]}')).toBe(
    "expected keys: factor, path; missing keys: none",
  );
});

test("numbers keep their digits, and what is deeper stays JSON", () => {
  expect(describeDetails('{"limit":1794710577346193084,"at":{"row":1.50}}')).toBe(
    'limit: 1794710577346193084; at: {"row":1.50}',
  );
});

test("what is no object stays as it was sent", () => {
  for (const text of ["", "[1,2]", '"why"', "not JSON"]) expect(describeDetails(text)).toBe(text);
});
