// Where a run ran and out of which source, from what its clients said of it.

import type { Run } from "#api/contract/run.ts";
import { isOfEnvironment, sourceAttributes } from "#model/otel-attributes.ts";
import { hasTrait } from "#protocol/facts.ts";
import type { ParamCell } from "#query/runs/run-detail.ts";

/** The latest value of each, of all groups of the run. */
export function toParams(cells: readonly ParamCell[], groups: readonly string[]): Record<string, string> {
  const inOrder = cells.toSorted(
    (a, b) => Number(a.tsNs - b.tsNs) || groups.indexOf(a.groupKey) - groups.indexOf(b.groupKey),
  );
  return Object.fromEntries(inOrder.map(({ name, value }) => [name, value]));
}

/** What the resource of the run's processes says; of several that differ, the latest. */
export function toResource(
  cells: readonly ParamCell[],
  groups: readonly { readonly groupKey: string; readonly protocol: string }[],
): Record<string, unknown> {
  const keys = groups.filter(({ protocol }) => hasTrait(protocol, "resources")).map((group) => group.groupKey);
  const mine = cells.filter((cell) => keys.includes(cell.groupKey));
  return Object.fromEntries(Object.entries(toParams(mine, keys)).map(([name, text]) => [name, JSON.parse(text)]));
}

/** The attributes of the Cirron session span are the nearest thing to an environment that protocol has. */
export function environmentOf(
  start: Record<string, unknown>,
  session: Record<string, unknown>,
  resource: Record<string, unknown>,
): Pick<Run, "env" | "source"> {
  const where = Object.fromEntries(Object.entries(resource).filter(([name]) => isOfEnvironment(name)));
  const whence = Object.fromEntries(
    Object.entries(sourceAttributes).map(([name, own]) => [name, own.map((key) => resource[key]).find(isPresent)]),
  );
  return {
    source: toTexts({ ...whence, ...objectOf(start["source"]) }),
    env: toTexts({ ...where, ...session, ...objectOf(start["env"]) }),
  };
}

function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined;
}

export function parseObject(json: string): Record<string, unknown> {
  return json === "" ? {} : objectOf(JSON.parse(json));
}

export function objectOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function toTexts(values: Record<string, unknown>): Record<string, string> {
  const entries = Object.entries(values).filter(([, value]) => isPresent(value));
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}
