import fc from "fast-check";
import { expect, it } from "vitest";
import { Component } from "./component.ts";
import { mayEverJoin, toSessions } from "./sessions.ts";

const gapNs = 100n;

interface Facts {
  readonly from: number;
  readonly length: number;
  readonly thread: string | null;
  readonly root: string | null;
  readonly session: boolean;
  /** What the path of its batches named. */
  readonly run: string | null;
}

function toComponent({ from, length, thread, root, session, run }: Facts, at: number): Component {
  const component = new Component("default", `default/c/${at}`);
  component.sources.add("key");
  component.processes.add("1/0");
  if (thread !== null) component.threads.add(thread);
  if (run !== null) component.runOverrides.add(run);
  if (root !== null) component.unresolved.set(root, { id: root, hasEpochChild: false, leads: 1 } as never);
  const [firstNs, lastNs] = [BigInt(from), BigInt(from + length)];
  const named = { runId: null, pipelineId: null, deploymentId: null, modelId: null };
  if (session) component.sessions.set(`s${at}`, { id: `s${at}`, startNs: firstNs, endNs: lastNs, ...named });
  return Object.assign(component, { firstNs, lastNs, spans: 1, earliest: { ns: firstNs, id: `r${at}` } });
}

const facts = (
  thread: fc.Arbitrary<string | null>,
  others: { root: fc.Arbitrary<string | null>; session: fc.Arbitrary<boolean>; run: fc.Arbitrary<string | null> },
) =>
  fc.array(fc.record({ from: fc.nat(4000), length: fc.nat(60), thread, ...others }), { minLength: 1, maxLength: 14 });

const plain = { root: fc.constant(null), session: fc.constant(false) };
const runs = [null, "r"] as const;

function membersOf(components: readonly Component[]): string[] {
  return toSessions(components, gapNs)
    .map(({ members }) =>
      members
        .map(({ earliest }) => earliest.id)
        .sort()
        .join(" "),
    )
    .sort();
}

it.each(runs)(
  "joins what only its times tell apart as all pairs would, with and without a thread, in run %s",
  (run) => {
    for (const thread of [null, "t"])
      fc.assert(
        fc.property(facts(fc.constant(thread), { ...plain, run: fc.constant(run) }), (some) => {
          const components = some.map(toComponent);
          // One that is far from all others and unlike them makes all pairs be tried.
          const other = toComponent(
            { from: 1_000_000, length: 1, thread: "far", root: null, session: false, run: null },
            99,
          );
          expect(membersOf(components)).toEqual(membersOf([...components, other]).filter((ids) => ids !== "r99"));
        }),
        { numRuns: 500 },
      );
  },
);

it("finds the same sessions for neighbours that may be joined as for everything that is near", () => {
  const thread = fc.constantFrom("t1", "t2", "t3", null);
  const run = fc.constantFrom("r1", "r2", null);
  const others = { root: fc.constantFrom("u1", "u2", null), session: fc.boolean(), run };
  fc.assert(
    fc.property(facts(thread, others), (some) => {
      const components = some.map(toComponent);
      const whole = membersOf(components);
      const left = new Set(components);
      const found: string[] = [];
      for (const first of components) {
        if (!left.has(first)) continue;
        const near = new Set([first]);
        for (const one of near) for (const other of components) if (mayEverJoin(one, other)) near.add(other);
        for (const one of near) left.delete(one);
        found.push(...membersOf([...near]));
      }
      expect(found.sort()).toEqual(whole);
    }),
    { numRuns: 1000 },
  );
});

it("leaves containers alone whose process has the same number, until one may be the other", () => {
  const job = (root: string | null, thread: string, run: string | null = null) =>
    toComponent({ from: 0, length: 10, thread, root, session: false, run }, 0);
  expect(mayEverJoin(job("u1", "t1"), job("u2", "t2"))).toBe(false);
  expect(mayEverJoin(job("u1", "t1"), job("u2", "t1"))).toBe(true);
  expect(mayEverJoin(job(null, "t1", "r1"), job(null, "t1", "r2"))).toBe(false);
  expect(mayEverJoin(job(null, "t1", "r1"), job(null, "t1"))).toBe(true);
});

it("works out the sessions of thousands that were sent to one named run one by one as fast as it sorts them", () => {
  const count = 5000;
  const components = Array.from({ length: count }, (_, at) =>
    toComponent({ from: at, length: 1, thread: "t", root: null, session: false, run: "r" }, at),
  );
  let looks = 0;
  const processes = new Set(["1/0"]);
  const look = () => {
    looks++;
    return processes;
  };
  for (const component of components) Object.defineProperty(component, "processes", { get: look });
  expect(toSessions(components, gapNs)).toHaveLength(1);
  // All pairs would be twelve million.
  expect(looks).toBeLessThan(count * 4);
});
