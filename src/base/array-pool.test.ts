import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { bytePool, doublePool, emptyPools, letGoUnused, wordPool } from "./array-pool.ts";
import { DictColumn, Int64Column, nullableString, StringColumn } from "./columns.ts";

it("gives out an array that was given back, to whoever needs one of its size", () => {
  const first = bytePool.take(3000);
  expect(first.length).toBe(4096);
  bytePool.give(first);
  expect(bytePool.take(5000)).not.toBe(first);
  expect(bytePool.take(2049)).toBe(first);
  expect(bytePool.take(4096)).not.toBe(first);
});

it("gives every array memory of its own, also where several lie together", () => {
  const arrays = Array.from({ length: 100 }, () => wordPool.take(2048));
  for (const [at, array] of arrays.entries()) array.fill(at);
  expect(arrays.filter((array, at) => array.every((word) => word === at))).toHaveLength(100);
});

it("takes neither odd or tiny sizes, nor views of larger memory, nor more than it may hold", () => {
  const odd = new Float64Array(1000);
  doublePool.give(odd);
  expect(doublePool.take(1000)).not.toBe(odd);
  const view = doublePool.take(4096).subarray(0, 2048);
  doublePool.give(view);
  expect(doublePool.take(2048)).not.toBe(view);
  const tiny = doublePool.take(16);
  doublePool.give(tiny);
  expect(doublePool.take(16)).not.toBe(tiny);
  const large = Array.from({ length: 24 }, () => bytePool.take(16 * 1024 * 1024));
  for (const array of large) bytePool.give(array);
  const again = new Set(large.map((array) => bytePool.take(array.length)));
  expect(large.filter((array) => again.has(array)).length).toBeLessThan(large.length);
  expect(large.filter((array) => again.has(array)).length).toBeGreaterThan(0);
});

it("lets go of what nobody has needed for a while, and of nothing else", () => {
  emptyPools();
  const arrays = Array.from({ length: 6 }, () => bytePool.take(100_000));
  const take = (count: number): Uint8Array[] => Array.from({ length: count }, () => bytePool.take(100_000));
  const give = (some: readonly Uint8Array[]): void => {
    for (const array of some) bytePool.give(array);
  };
  give(arrays);
  // Whether these are needed is not known yet.
  letGoUnused();
  for (const needed of [2, 4, 3]) give(take(needed));
  letGoUnused();
  const kept = take(6).filter((array) => arrays.includes(array));
  expect(kept).toHaveLength(4);
  give(kept);
  letGoUnused();
  letGoUnused();
  expect(take(4).filter((array) => arrays.includes(array))).toEqual([]);
});

it("has memory that the runtime does not count, up to what would be too much without being collected", () => {
  const script = `import { bytePool } from "${new URL("./array-pool.ts", import.meta.url).href}";
    const before = process.memoryUsage().external;
    const counted = () => Math.round((process.memoryUsage().external - before) / 2 ** 20);
    const taken = Array.from({ length: 16 }, () => bytePool.take(2 ** 25));
    console.log(counted());
    taken.push(bytePool.take(2 ** 25));
    console.log(counted());`;
  const [within, beyond] = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" })
    .split("\n")
    .map(Number);
  expect(within).toBeLessThan(4);
  expect(beyond).toBeGreaterThanOrEqual(32);
});

it.skipIf(process.platform !== "linux")("gives arrays also where a process has few addresses", () => {
  const pool = new URL("./array-pool.ts", import.meta.url).href;
  const script = `import { bytePool } from "${pool}";
    const taken = Array.from({ length: 100 }, (_, at) => bytePool.take(65536).fill(at));
    console.log(taken.filter((array, at) => array.every((byte) => byte === at)).length);`;
  const command = 'ulimit -v 8000000 && exec "$0" --input-type=module -e "$1"';
  expect(execFileSync("sh", ["-c", command, process.execPath, script], { encoding: "utf8" })).toBe("100\n");
});

it("lets columns be filled with what others left behind, and shows none of it", () => {
  for (let round = 0; round < 3; round++) {
    const texts = new StringColumn();
    const words = new DictColumn();
    const numbers = new Int64Column();
    const rare = nullableString();
    for (let i = 0; i < 500; i++) {
      texts.push(`${round} ${i}`);
      words.push(i % 2 === 0 ? `even ${round}` : "odd");
      numbers.pushNumber(round * 1000 + i);
    }
    numbers.padZerosTo(700);
    texts.padTo(700);
    rare.padTo(699);
    rare.present().push("last");
    expect([texts.at(499), texts.at(500), texts.at(699)]).toEqual([`${round} 499`, "", ""]);
    expect([words.at(0), words.at(1)]).toEqual([`even ${round}`, "odd"]);
    expect([numbers.at(499), numbers.at(500), numbers.at(699)]).toEqual([BigInt(round * 1000 + 499), 0n, 0n]);
    expect([rare.isNull(698), rare.isNull(699), rare.inner.at(698), rare.inner.at(699)]).toEqual([
      true,
      false,
      "",
      "last",
    ]);
    for (const column of [texts, words, numbers, rare]) column.release();
    expect([texts.length, words.length, numbers.length, rare.length]).toEqual([0, 0, 0, 0]);
  }
});
