import { expect, it } from "vitest";
import { Component } from "./component.ts";
import { type ComponentRow, fromStateRow, toStateChange } from "./component-state.ts";

function createKnown(): Component {
  const component = new Component("default", "k1");
  component.sources.add("key:1");
  component.processes.add("7/0");
  component.threads.add("70");
  component.told.set("k1", { runId: "r1", signature: "s1" });
  component.aliases.add("r1\nk1");
  component.spans = 1;
  component.version = 1n;
  return component;
}

function read(component: Component): Omit<Component, "lasting"> {
  const awaited = () => {
    throw new Error("nothing is awaited");
  };
  const { lasting: _, ...told } = fromStateRow(toStateChange(component).row as ComponentRow, awaited);
  return told;
}

const session = { startNs: 1n, endNs: 9n, runId: null, pipelineId: null, deploymentId: null, modelId: null };

it.each<[string, (component: Component) => void]>([
  ["another span", (component) => component.spans++],
  ["another source", ({ sources }) => sources.add("key:2")],
  ["another process", ({ processes }) => processes.add("8/1")],
  ["another thread", ({ threads }) => threads.add("80")],
  ["a run that was named", ({ runOverrides }) => runOverrides.add("r2")],
  ["a session span", ({ sessions }) => sessions.set("s", { id: "s", ...session })],
  ["another run", ({ told }) => told.set("k1", { runId: "r2", signature: "s2" })],
  ["another alias", ({ aliases }) => aliases.add("r2\nk1")],
  ["another key", ({ groupKeys }) => groupKeys.add("k2")],
])("a row that is told again has %s", (_, change) => {
  const component = createKnown();
  toStateChange(component);
  change(component);
  const { lasting: _lasting, ...now } = component;
  expect(read(component)).toEqual({ ...now, position: 0, generation: 0 });
});

it("a row that is told again has a key in the place of one that was never used", () => {
  const component = createKnown();
  component.groupKeys.add("k2");
  toStateChange(component);
  component.groupKeys.delete("k2");
  component.groupKeys.add("k3");
  expect([...read(component).groupKeys]).toEqual(["k1", "k3"]);
});
