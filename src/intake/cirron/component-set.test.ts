import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countPauses } from "#base/turns.testing.ts";
import { Component } from "./component.ts";
import { ComponentSet } from "./component-set.ts";
import { distanceNs, mayEverJoin } from "./sessions.ts";

const gapNs = 100n;

interface Facts {
  readonly from: number;
  readonly length: number;
  readonly pid?: number;
  readonly thread?: string;
  /** A parent that has not come. */
  readonly root?: string;
  readonly run?: string;
  readonly session?: string;
}

let made = 0;
function toComponent({ from, length, pid = 1, thread, root, run, session }: Facts): Component {
  const component = new Component("default", `default/c/${made++}`);
  component.sources.add("key");
  component.processes.add(`${pid}/0`);
  if (thread !== undefined) component.threads.add(thread);
  if (run !== undefined) component.runOverrides.add(run);
  if (root !== undefined) component.unresolved.set(root, { id: root, hasEpochChild: false, leads: 1 } as never);
  const [firstNs, lastNs] = [BigInt(from), BigInt(from + length)];
  const named = { runId: null, pipelineId: null, deploymentId: null, modelId: null };
  if (session !== undefined)
    component.sessions.set(session, { id: session, startNs: firstNs, endNs: lastNs, ...named });
  return Object.assign(component, { firstNs, lastNs, spans: 1 });
}

function toSet(components: readonly Component[]): { readonly set: ComponentSet; readonly numbers: number[] } {
  const set = new ComponentSet();
  const numbers = components.map((component) => set.put(component));
  for (const at of numbers) set.index(at);
  return { set, numbers };
}

describe("the neighbourhood of a component", () => {
  it("is what can be reached over neighbours of neighbours, as looking at all pairs finds it", () => {
    const facts = fc.record({
      from: fc.nat(20_000),
      length: fc.oneof(fc.nat(50), fc.nat(9000)),
      pid: fc.constantFrom(1, 2),
      root: fc.constantFrom("u1", "u2"),
      thread: fc.constantFrom("t1", "t2", "t3"),
    });
    fc.assert(
      fc.property(fc.array(facts, { minLength: 1, maxLength: 20 }), (some) => {
        const components = some.map(toComponent);
        const { set, numbers } = toSet(components);
        const reached = new Set([components[0] as Component]);
        for (const one of reached)
          for (const other of components)
            if (
              !one.processes.isDisjointFrom(other.processes) &&
              distanceNs(one, other) <= gapNs * 6n &&
              mayEverJoin(one, other)
            )
              reached.add(other);
        const found = set.neighbourhood(numbers[0] as number, gapNs).map((at) => set.get(at));
        expect(new Set(found)).toEqual(reached);
      }),
      { numRuns: 300 },
    );
  });

  it("follows times that change, merges and what is let go", () => {
    const [left, middle, right] = [
      toComponent({ from: 0, length: 10 }),
      toComponent({ from: 1200, length: 10 }),
      toComponent({ from: 2000, length: 10 }),
    ] as const;
    const { set, numbers } = toSet([left, middle, right]);
    const [first, second, third] = numbers as [number, number, number];
    expect(set.neighbourhood(first, gapNs)).toEqual([first]);
    middle.firstNs = 500n;
    set.index(second);
    expect(set.neighbourhood(first, gapNs)).toEqual([first, second]);
    set.union(second, third);
    expect(set.neighbourhood(first, gapNs)).toEqual([first, second]);
    expect(set.get(third).lastNs).toBe(2010n);
    set.drop(second);
    expect(set.neighbourhood(first, gapNs)).toEqual([first]);
  });

  it("costs as many looks for a long chain as there are links, times a few", () => {
    const count = 20_000;
    // Each is near the ones beside it only; another chain of the same process lies far away.
    const chain = (from: number): Component[] =>
      Array.from({ length: count / 2 }, (_, at) => toComponent({ from: from + at * 500, length: 10 }));
    const components = [...chain(0), ...chain(count * 1000)];
    let looks = 0;
    for (const component of components) {
      const { lastNs } = component;
      Object.defineProperty(component, "lastNs", {
        get: () => {
          looks++;
          return lastNs;
        },
      });
    }
    const { set, numbers } = toSet(components);
    looks = 0;
    expect(set.neighbourhood(numbers[count / 4] as number, gapNs)).toHaveLength(count / 2);
    expect(looks).toBeLessThan(20 * count);
    looks = 0;
    expect(set.neighbourhood(numbers[count - 1] as number, gapNs)).toHaveLength(count / 2);
    expect(looks).toBeLessThan(20 * count);
  });
});

describe("a component of another collector", () => {
  const here = { from: 0, length: 100, thread: "t1", root: "u1" };
  it.each<[string, boolean, Facts, Facts]>([
    ["of another process", false, here, { ...here, pid: 2 }],
    ["far away in time", false, here, { ...here, from: 1000 }],
    ["of a container whose process has the same number", false, here, { ...here, thread: "t2", root: "u2" }],
    ["of the same thread", true, here, { ...here, from: 400, root: "u2" }],
    ["that hangs on the same span", true, here, { ...here, thread: "t2" }],
    ["of one process that waits for nothing", true, here, { from: 50, length: 5 }],
    ["of another run", false, { ...here, run: "a" }, { from: 50, length: 5, thread: "t2", run: "b" }],
    ["with the same session", true, { from: 0, length: 9, session: "s" }, { from: 0, length: 9, session: "s" }],
    ["with another session", false, { from: 0, length: 9, session: "s" }, { from: 0, length: 9, session: "z" }],
  ])("%s: it may be tied to one here is %s", (_, isTied, own, other) => {
    const { set } = toSet([toComponent(own)]);
    expect(set.mayBeTied(toComponent(other), gapNs)).toBe(isTied);
  });
});

describe("components that share processes", () => {
  it("are found while they share them, also after others were merged or let go", () => {
    const { set, numbers } = toSet([0, 1, 2, 3].map((from) => toComponent({ from, length: 5 })));
    const [first, second, third, fourth] = numbers as [number, number, number, number];
    const near = (at: number) => set.neighbourhood(at, gapNs).sort();
    expect(near(first)).toEqual(numbers);
    set.drop(second);
    expect(near(first)).toEqual([first, third, fourth]);
    set.union(third, fourth);
    expect(near(first)).toEqual([first, third]);
    set.drop(third);
    expect(near(first)).toEqual([first]);
    const late = set.put(toComponent({ from: 4, length: 5 }));
    set.index(late);
    expect(near(first)).toEqual([first, late]);
  });

  it("may have a great many, which are filed with pauses and looked at no more", () => {
    const large = toComponent({ from: 0, length: 5 });
    for (let pid = 2; pid < 50_000; pid++) large.processes.add(`${pid}/0`);
    const { set } = toSet([]);
    const at = set.put(large);
    expect(countPauses(set.indexInSteps(at)).pauses).toBeGreaterThan(40);
    const small = set.put(toComponent({ from: 3, length: 5, pid: 77 }));
    set.index(small);
    const other = set.put(toComponent({ from: 3, length: 5, pid: 60_000 }));
    set.index(other);
    expect([set.neighbourhood(small, gapNs), set.neighbourhood(other, gapNs)]).toEqual([[small, at], [other]]);
  });
});
