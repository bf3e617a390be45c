import { expect, it } from "vitest";
import type { GraphNode } from "#api/contract/pipeline.ts";
import { feed, readLines } from "../../../tests/semantiva/feed.ts";
import { aggregateRun } from "./aggregate.ts";
import { type Graph, toGraph } from "./graph.ts";

function graphOf(lines: readonly string[]): Graph {
  const { lifecycle, nodes, payloads } = feed(lines);
  const run = aggregateRun("r", lifecycle, nodes);
  return toGraph(run, payloads.get(run.start?.event_id ?? "") ?? "", (node) => payloads.get(node.last.event_id));
}

function nodeOf(graph: Graph, label: string): GraphNode {
  const node = graph.nodes.find((candidate) => candidate.label === label);
  if (node === undefined) throw new Error(`no node ${label} in ${graph.nodes.map((other) => other.label).join(", ")}`);
  return node;
}

const failing = readLines("error_midway/trace.ser.jsonl");
const plain = readLines("plain_file/trace.ser.jsonl");

it("shows the declared pipeline with what each node did", () => {
  const graph = graphOf(plain);
  expect(graph.nodes.map(({ label, status }) => [label, status])).toEqual([
    ["FloatValueDataSource", "succeeded"],
    ["FloatAddOperation", "succeeded"],
    ["FloatMultiplyOperationWithDefault", "succeeded"],
    ["FloatCollectValueProbe", "succeeded"],
    ['template:"result_{result}.txt":path', "succeeded"],
    ["FloatTxtFileSaver", "succeeded"],
  ]);
  expect(graph.edges).toHaveLength(5);
  expect(new Set(graph.edges.map(({ kind }) => kind))).toEqual(new Set(["declared"]));
  expect(graph).toMatchObject({ pipeline_id: /^plid-/, semantic_id: /^plsemid-/, config_id: /^plcid-/ });
});

it("names nodes by their declaration, since processor refs are neither paths nor unique (S14)", () => {
  expect(nodeOf(graphOf(plain), "FloatTxtFileSaver").processor).toBe("abc.FloatTxtFileSaver");
});

it("gives parameters as written with their sources, and the context's changes", () => {
  const graph = graphOf(plain);
  expect(nodeOf(graph, "FloatAddOperation").parameters).toEqual([{ name: "addend", value: "1.0", source: "node" }]);
  const saver = nodeOf(graph, "FloatTxtFileSaver");
  expect(saver.parameters).toEqual([{ name: "path", value: '"result_6.0.txt"', source: "context" }]);
  expect(saver.context).toMatchObject({ read: ["path"], created: [], updated: [] });
  const probe = nodeOf(graph, "FloatCollectValueProbe");
  expect(probe.context.created).toEqual(["result"]);
  expect(JSON.parse(probe.context.summaries)).toMatchObject({ result: { dtype: "float" } });
});

it("gives the parameters of real edge cases without loss (S16)", () => {
  const lines = readLines("edge_values/trace.ser.jsonl");
  const odd = graphOf(lines).nodes.filter(({ label }) => label === "EdgeOperation");
  expect(odd[0]?.parameters.map(({ value }) => value)).toEqual([
    '"NaN"',
    '"Infinity"',
    '"-Infinity"',
    "123456789012345678901234567890",
  ]);
  expect(odd[1]?.parameters[3]?.value).toBe('[1,2.0,null,true,{"k":"NaN"}]');
});

it("marks the failed node with its error and checks, and the nodes that never ran (S5, S17)", () => {
  const graph = graphOf(failing);
  const failed = nodeOf(graph, "FloatDivideOperation");
  expect(failed).toMatchObject({
    status: "error",
    error: { type: "ValueError", message: "Division by zero is not allowed" },
    executions: 1,
    counts: { error: 1 },
    wall_ms: 0,
  });
  expect(failed.checks.map(({ when, code, result }) => `${when} ${code} ${result}`)).toEqual([
    "pre required_keys_present PASS",
    "pre input_type_ok PASS",
    "post ValueError FAIL",
    "post output_type_ok PASS",
    "post context_writes_realized PASS",
  ]);
  expect(JSON.parse(failed.checks[2]?.details ?? "")).toEqual({ error: "Division by zero is not allowed" });
  expect(graph.nodes.filter(({ status }) => status === "missing")).toHaveLength(2);
  expect(graph.nodes.filter(({ status }) => status === "missing").map(({ record }) => record)).toEqual(["", ""]);
});

it("marks nodes that ran but were not declared", () => {
  const foreign = failing.map((line) => line.replaceAll('"node_id": "e6595105', '"node_id": "f6595105'));
  const graph = graphOf(foreign);
  const orphans = graph.nodes.filter(({ orphan }) => orphan);
  expect(orphans).toMatchObject([{ label: "FloatAddOperation", status: "succeeded", role: "" }]);
  expect(graph.edges.filter(({ kind }) => kind === "observed")).toEqual([
    { from: "b764a18a-dcb0-5695-94ed-04e861be0095", to: orphans[0]?.id, kind: "observed" },
  ]);
});

it("draws a run whose start never arrived from its SERs alone", () => {
  const graph = graphOf(failing.slice(2));
  expect(graph.pipeline_id).toMatch(/^plid-/);
  expect(graph.nodes.map(({ label, status, orphan }) => [label, status, orphan])).toEqual([
    ["FloatAddOperation", "succeeded", false],
    ["FloatDivideOperation", "error", false],
    ["b764a18a-dcb0-5695-94ed-04e861be0095", "missing", false],
  ]);
  expect(graph.edges.map(({ kind }) => kind)).toEqual(["observed", "observed"]);
});

it("counts a node's executions and shows the last", () => {
  const retried = failing.map((line) =>
    line
      .replace('"status": "error"', '"status": "succeeded"')
      .replace(/"started_at": "2026-11-15T02:49/, '"started_at": "2026-11-15T02:59'),
  );
  const divide = nodeOf(graphOf([...retried, ...failing]), "FloatDivideOperation");
  expect(divide).toMatchObject({ status: "succeeded", executions: 2, counts: { error: 1, succeeded: 1 }, error: null });
});

it("has nothing to draw for a run without records", () => {
  expect(toGraph(aggregateRun("r", [], []), "", () => undefined)).toMatchObject({
    nodes: [],
    edges: [],
    pipeline_id: "",
  });
});
