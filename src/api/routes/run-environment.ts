// Where a run ran and out of which source, from what its clients said of it.

import type { Run } from "#api/contract/run.ts";
import { formatJson } from "#base/json/format.ts";
import { parseJson } from "#base/json/parse.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "#base/json/value.ts";
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
): JsonObject {
  const keys = groups.filter(({ protocol }) => hasTrait(protocol, "resources")).map((group) => group.groupKey);
  const mine = cells.filter((cell) => keys.includes(cell.groupKey));
  return Object.fromEntries(Object.entries(toParams(mine, keys)).map(([name, text]) => [name, parseValue(text)]));
}

/** The attributes of the Cirron session span are the nearest thing to an environment that protocol has. */
export function environmentOf(
  start: JsonObject,
  session: JsonObject,
  resource: JsonObject,
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

function isPresent(value: JsonValue | undefined): boolean {
  return value !== null && value !== undefined;
}

export function parseObject(json: string): JsonObject {
  return json === "" ? {} : objectOf(parseValue(json));
}

/** Without loss: an environment may hold numbers of 64 bits. */
function parseValue(json: string): JsonValue {
  const parsed = parseJson(json);
  return parsed.ok ? parsed.value : null;
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function toTexts(values: Readonly<Record<string, JsonValue | undefined>>): Record<string, string> {
  const texts: [name: string, text: string][] = [];
  for (const [name, value] of Object.entries(values))
    if (value !== null && value !== undefined)
      texts.push([name, typeof value === "string" ? value : formatJson(value, "lossless")]);
  return Object.fromEntries(texts);
}
