// Conditions on the rows of some protocols, by what their runs are made of.

import { protocolsWith } from "#protocol/facts.ts";

type Trait = Parameters<typeof protocolsWith>[0];

/** `column` holds the name of a protocol, as `protocol` does, and `source` of points. */
export function withTrait(column: string, trait: Trait): string {
  return `${column} IN (${protocolsWith(trait)
    .map((name) => `'${name}'`)
    .join(", ")})`;
}
