import { expect, test } from "vitest";
import { started } from "./started.ts";

function source() {
  const said: string[] = [];
  async function* pieces() {
    try {
      yield "a";
      yield "b";
    } finally {
      said.push("closed");
    }
  }
  return { said, pieces: pieces() };
}

test("gives all pieces, and closes the source after the last", async () => {
  const { said, pieces } = source();
  expect(await Array.fromAsync(await started(pieces))).toEqual(["a", "b"]);
  expect(said).toEqual(["closed"]);
});

test.each([0, 1])("closes the source when its reader stops after %i pieces", async (count) => {
  const { said, pieces } = source();
  const reader = (await started(pieces))[Symbol.asyncIterator]();
  for (let taken = 0; taken < count; taken++) await reader.next();
  await reader.return?.();
  expect(said).toEqual(["closed"]);
  expect(await reader.next()).toMatchObject({ done: true });
});
