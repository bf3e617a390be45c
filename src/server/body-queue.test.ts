import { expect, it } from "vitest";
import { BodyQueue, smallBodyBytes } from "./body-queue.ts";
import type { Busy, IntakeLoad } from "./http/ports.ts";

const mebibyte = 1024 * 1024;
const busy: Busy = { busy: true, retryAfterS: 5 };

function createLoad(): IntakeLoad & { backlog: number; roomBytes: number; isFull: boolean; isReserveFull: boolean } {
  return {
    roomBytes: Number.POSITIVE_INFINITY,
    backlog: 0,
    isFull: false,
    isReserveFull: false,
    roomFor(bytes, isQuiet) {
      return (isQuiet ? this.isReserveFull : this.isFull) || bytes > this.roomBytes ? busy : null;
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

/** Null when it is taken; it gives up its room at once. */
function refusalOf(queue: BodyQueue, bytes: number, connection: object): Busy | null {
  const admitted = queue.admit(bytes, connection);
  if (typeof admitted !== "function") return admitted;
  admitted();
  return null;
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

it("lets bodies in slowly while much of what was decoded is not applied yet", async () => {
  const load = createLoad();
  const { entered, enter, leave } = createEntrance(new BodyQueue(load, 64 * mebibyte));
  load.backlog = 16 * mebibyte;
  for (const name of ["a", "b", "huge"]) void enter(name, name === "huge" ? 200 * mebibyte : mebibyte);
  await settled();
  expect(entered).toEqual(["a"]);
  leave("a");
  await settled();
  expect(entered).toEqual(["a"]);
  // Applying may wait for the store: that is no reason to take nothing.
  await expect.poll(() => entered).toEqual(["a", "b"]);
  load.backlog = 0;
  leave("b");
  await settled();
  expect(entered).toEqual(["a", "b", "huge"]);
});

it("refuses large bodies from their length while there is no room, and takes those of a quiet connection", () => {
  const load = createLoad();
  const queue = new BodyQueue(load, 64 * mebibyte);
  const [quiet, noisy] = [{}, {}];
  expect(refusalOf(queue, mebibyte, noisy)).toBeNull();
  load.isFull = true;
  expect(refusalOf(queue, mebibyte, noisy)).toEqual(busy);
  expect(refusalOf(queue, 1000, quiet)).toBeNull();
  // Many small ones are as much as a large one.
  const answers = Array.from({ length: 100 }, () => refusalOf(queue, 1000, noisy));
  expect(answers.at(0)).toBeNull();
  expect(answers.at(-1)).toEqual(busy);
  expect(refusalOf(queue, 1000, quiet)).toBeNull();
  load.isReserveFull = true;
  expect(refusalOf(queue, 1000, {})).toEqual(busy);
});

it("refuses large bodies while the first in line has waited for long", async () => {
  const queue = new BodyQueue(createLoad(), 64 * mebibyte);
  const { entered, enter, leave } = createEntrance(queue);
  for (const name of ["a", "b", "c"]) void enter(name, mebibyte);
  expect(refusalOf(queue, mebibyte, {})).toBeNull();
  await expect.poll(() => refusalOf(queue, mebibyte, {}), { timeout: 5000 }).toEqual({ busy: true, retryAfterS: 1 });
  expect(refusalOf(queue, 1000, {})).toBeNull();
  leave("a");
  await settled();
  expect(entered).toEqual(["a", "b", "c"]);
  expect(refusalOf(queue, mebibyte, {})).toBeNull();
});

it("keeps room for bodies that were let in, until they have it or are not coming", () => {
  const load = createLoad();
  const queue = new BodyQueue(load, 64 * mebibyte);
  load.roomBytes = 2.5 * mebibyte;
  const [first, second] = [queue.admit(mebibyte, {}), queue.admit(mebibyte, {})] as (() => void)[];
  expect(refusalOf(queue, mebibyte, {})).toEqual(busy);
  first?.();
  first?.();
  expect(refusalOf(queue, mebibyte, {})).toBeNull();
  expect(refusalOf(queue, 2 * mebibyte, {})).toEqual(busy);
  second?.();
  expect(refusalOf(queue, 2 * mebibyte, {})).toBeNull();
});

it("keeps little room for bodies that are merely announced", () => {
  const load = createLoad();
  const queue = new BodyQueue(load, 64 * mebibyte);
  load.roomBytes = 64 * mebibyte;
  for (const _ of [1, 2, 3]) expect(queue.admit(32 * mebibyte, {})).toBeTypeOf("function");
  expect(refusalOf(queue, 33 * mebibyte, {})).toEqual(busy);
});
