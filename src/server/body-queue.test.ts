import { expect, it } from "vitest";
import { BodyQueue, smallBodyBytes } from "./body-queue.ts";
import type { Busy, IntakeLoad } from "./http/ports.ts";

const mebibyte = 1024 * 1024;
const busy: Busy = { busy: true, retryAfterS: 5 };

function createLoad(): IntakeLoad & { backlog: number; isFull: boolean; isReserveFull: boolean } {
  return {
    backlog: 0,
    isFull: false,
    isReserveFull: false,
    roomFor(_, isQuiet) {
      return (isQuiet ? this.isReserveFull : this.isFull) ? busy : null;
    },
    backlogBytes() {
      return this.backlog;
    },
  };
}

/** The names of those that have a place, in the order they got it. */
function createEntrance(queue: BodyQueue) {
  const entered: string[] = [];
  const leaves = new Map<string, () => void>();
  const enter = async (name: string, bytes: number): Promise<void> => {
    leaves.set(name, await queue.enter(bytes));
    entered.push(name);
  };
  return { entered, enter, leave: (name: string) => leaves.get(name)?.() };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("works on two bodies at a time, lets the others in as they came, and small ones past them", async () => {
  const { entered, enter, leave } = createEntrance(new BodyQueue(createLoad(), 64 * mebibyte));
  for (const name of ["a", "b", "c", "d"]) void enter(name, mebibyte);
  void enter("small", smallBodyBytes);
  await settled();
  expect(entered).toEqual(["a", "b", "small"]);
  leave("b");
  leave("b");
  await settled();
  expect(entered).toEqual(["a", "b", "small", "c"]);
  leave("a");
  await settled();
  expect(entered.at(-1)).toBe("d");
});

it("counts what was decoded and is not applied yet, and works on a body beyond every limit alone", async () => {
  const load = createLoad();
  const { entered, enter, leave } = createEntrance(new BodyQueue(load, 64 * mebibyte));
  load.backlog = 16 * mebibyte;
  void enter("a", mebibyte);
  await settled();
  expect(entered).toEqual([]);
  load.backlog = 1 * mebibyte;
  await expect.poll(() => entered).toEqual(["a"]);
  void enter("huge", 200 * mebibyte);
  void enter("b", mebibyte);
  leave("a");
  await settled();
  expect(entered).toEqual(["a"]);
  load.backlog = 0;
  await expect.poll(() => entered).toEqual(["a", "huge"]);
  leave("huge");
  await settled();
  expect(entered).toEqual(["a", "huge", "b"]);
});

it("refuses large bodies from their length while there is no room, and takes those of a quiet connection", () => {
  const load = createLoad();
  const queue = new BodyQueue(load, 64 * mebibyte);
  const [quiet, noisy] = [{}, {}];
  expect(queue.refusalOf(mebibyte, noisy)).toBeNull();
  load.isFull = true;
  expect(queue.refusalOf(mebibyte, noisy)).toEqual(busy);
  expect(queue.refusalOf(1000, quiet)).toBeNull();
  // Many small ones are as much as a large one.
  const answers = Array.from({ length: 100 }, () => queue.refusalOf(1000, noisy));
  expect(answers.at(0)).toBeNull();
  expect(answers.at(-1)).toEqual(busy);
  expect(queue.refusalOf(1000, quiet)).toBeNull();
  load.isReserveFull = true;
  expect(queue.refusalOf(1000, {})).toEqual(busy);
});

it("refuses large bodies while the first in line has waited for long", async () => {
  const load = createLoad();
  const queue = new BodyQueue(load, 64 * mebibyte);
  const { entered, enter } = createEntrance(queue);
  load.backlog = 100 * mebibyte;
  void enter("a", mebibyte);
  expect(queue.refusalOf(mebibyte, {})).toBeNull();
  await expect.poll(() => queue.refusalOf(mebibyte, {}), { timeout: 5000 }).toEqual({ busy: true, retryAfterS: 1 });
  expect(queue.refusalOf(1000, {})).toBeNull();
  load.backlog = 0;
  await expect.poll(() => entered).toEqual(["a"]);
  expect(queue.refusalOf(mebibyte, {})).toBeNull();
});
