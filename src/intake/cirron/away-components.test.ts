import { expect, it } from "vitest";
import { AwayComponents } from "./away-components.ts";
import { Component } from "./component.ts";

const hourNs = 3_600_000_000_000n;
const gapNs = 60_000_000_000n;

function makeComponent(process: string | null, hour: bigint, spans = 1): Component {
  const component = new Component("", "");
  component.sources.add("key");
  if (process !== null) component.processes.add(process);
  component.spans = spans;
  component.firstNs = hour * hourNs + hourNs / 2n;
  component.lastNs = component.firstNs;
  return component;
}

function asks(away: AwayComponents, component: Component): boolean {
  return away.questionFor(component, gapNs) !== null;
}

it("asks for the neighbours of a process of which something was let go, and of no other", () => {
  const away = new AwayComponents(true);
  away.add(makeComponent("1/0", 100n));
  expect(asks(away, makeComponent("1/0", 100n))).toBe(true);
  expect(asks(away, makeComponent("2/0", 100n))).toBe(false);
  expect(asks(away, makeComponent("1/0", 200n))).toBe(false);
});

it("asks once, and again when more of the process is let go", () => {
  const away = new AwayComponents(true);
  const component = makeComponent("1/0", 100n);
  away.add(component);
  const question = away.questionFor(component, gapNs);
  if (question === null) throw new Error("nothing is asked");
  away.cover(component, question);
  expect(asks(away, component)).toBe(false);
  away.add(component);
  expect(asks(away, component)).toBe(true);
});

it("asks for marks outside every session, whoever comes near them, and for everybody near such marks", () => {
  const marks = makeComponent(null, 100n, 0);
  const away = new AwayComponents(true);
  away.add(marks);
  expect(asks(away, makeComponent("2/0", 100n))).toBe(true);
  const others = new AwayComponents(true);
  others.add(makeComponent("1/0", 100n));
  expect(asks(others, marks)).toBe(true);
});

it("asks whoever comes near hours of which nothing more is known", () => {
  const away = new AwayComponents(false);
  expect(asks(away, makeComponent("1/0", 100n))).toBe(true);
  away.warm([makeComponent("1/0", 100n)], [50]);
  expect(asks(away, makeComponent("2/0", 50n))).toBe(true);
  expect(asks(away, makeComponent("2/0", 100n))).toBe(false);
  expect(asks(away, makeComponent("1/0", 100n))).toBe(true);
});

it("knows the hours of what was let go when there is too much to list", () => {
  const away = new AwayComponents(true);
  for (let process = 0; process <= 100_000; process++) away.add(makeComponent(`${process}/0`, 100n));
  expect(asks(away, makeComponent("never seen", 100n))).toBe(true);
  expect(asks(away, makeComponent("1/0", 200n))).toBe(false);
});
