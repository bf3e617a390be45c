import { expect, test } from "vitest";
import { DictColumn } from "./dict-column.ts";

test("a text has one code, however many there are", () => {
  const column = new DictColumn();
  const words = Array.from({ length: 40 }, (_, at) => `word ${at % 20}`);
  for (const word of words) column.push(word);
  expect(Array.from({ length: column.length }, (_, row) => column.at(row))).toEqual(words);
  expect(column.keys).toHaveLength(20);
});

test("a column that was cleared knows nothing of its texts, and is another one to who remembers their codes", () => {
  const column = new DictColumn();
  for (let at = 0; at < 20; at++) column.push(`word ${at}`);
  const before = column.serial;
  column.clear();
  column.push("word 7");
  expect(column.serial).not.toBe(before);
  expect(column.length).toBe(1);
  expect(column.keys).toEqual(["word 7"]);
  expect(column.at(0)).toBe("word 7");
});
