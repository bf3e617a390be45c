// Lines of a trace as an input: whole ones, and where in their file or stream they begin.

import type { Input } from "#intake/input.ts";
import type { InputKind } from "#intake/input-kind.ts";
import { bundledSchemas } from "#wire/semantiva/bundled.ts";
import { decodeLines, type LinesSource } from "#wire/semantiva/decode-lines.ts";
import { createRegistry, type Registry } from "#wire/semantiva/registry.ts";
import { applySemantiva, groupsOf, placeFaults } from "./apply.ts";

export interface SemantivaLinesInput extends Input, LinesSource {
  readonly kind: "semantiva_lines";
}

/** Made when the first line comes: compiling the schemas takes a while that a command which needs none should not wait. */
let registry: Registry | undefined;

export const lineInputs: InputKind<SemantivaLinesInput> = {
  kind: "semantiva_lines",
  decode(input, limits) {
    registry ??= createRegistry(bundledSchemas);
    const chunk = decodeLines(input, registry, limits);
    return {
      prepare: (state, { workspace }) =>
        state.prepareGroups(groupsOf(chunk, workspace)) ??
        state.prepareFaults(workspace, chunk, placeFaults(chunk, workspace)),
      apply: (state, arrival, position) => applySemantiva(state, chunk, { ...arrival, position }),
    };
  },
};
