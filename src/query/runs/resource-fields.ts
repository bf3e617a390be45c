// Where a run ran and out of which source, when its client says so as attributes of a resource, which are its params.

import { sourceAttributes } from "#model/otel-attributes.ts";
import { hasTrait } from "#protocol/facts.ts";
import type { FieldRef, RunField } from "./field.ts";
import type { RunRow } from "./row.ts";

type ParamField = Extract<FieldRef, { kind: "param" }>;

const attributes: Readonly<Partial<Record<RunField, readonly string[]>>> = {
  host: ["host.name"],
  user: ["process.owner"],
  commit: sourceAttributes.git_commit,
  branch: sourceAttributes.git_branch,
};

/** The params that say the same as a field of the run, the first that is present counts. */
export function resourceFieldsOf(field: FieldRef): ParamField[] {
  if (field.kind !== "run") return [];
  return (attributes[field.name] ?? []).map((name) => ({ kind: "param", name, text: `params.${name}` }));
}

export function hasResource({ groups }: Pick<RunRow, "groups">): boolean {
  return groups.some(({ protocol }) => hasTrait(protocol, "resources"));
}
