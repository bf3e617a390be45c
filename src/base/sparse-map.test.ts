import fc from "fast-check";
import { expect, it } from "vitest";
import { SparseMap } from "./sparse-map.ts";

it("is as a map is, from its first look to its last", () => {
  const step = fc.record({ what: fc.constantFrom("set", "delete", "look"), key: fc.nat(3), value: fc.nat() });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const [sparse, map] = [new SparseMap<number, number>(), new Map<number, number>()];
      for (const { what, key, value } of steps) {
        if (what === "set") for (const one of [sparse, map]) one.set(key, value);
        if (what === "delete") for (const one of [sparse, map]) one.delete(key);
        expect([sparse.size, sparse.get(key), sparse.has(key)]).toEqual([map.size, map.get(key), map.has(key)]);
        expect([[...sparse], [...sparse.values()]]).toEqual([[...map], [...map.values()]]);
      }
    }),
  );
});
