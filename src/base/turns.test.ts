import { expect, it } from "vitest";
import { inTurns } from "./turns.ts";

function burn(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

it("gives one of all works a turn in each round of the event loop, however many there are", async () => {
  const since: string[] = [];
  function* work(name: string): Generator<void, void> {
    for (let step = 0; step < 3; step++) {
      burn(30);
      since.push(name);
      yield;
    }
  }
  // Whoever else is there is heard once in each round.
  let isOver = false;
  const listen = (): void => {
    since.push("-");
    if (!isOver) setImmediate(listen);
  };
  const works = ["a", "b", "c", "d"].map((name) => inTurns(work(name)));
  setImmediate(listen);
  await Promise.all(works);
  isOver = true;
  // The first turns begin as the works do.
  const later = since.slice(4).join("");
  expect(later.replaceAll("-", "")).toBe("abcdabcd");
  expect(later).not.toMatch(/[a-d]{2}/);
});
