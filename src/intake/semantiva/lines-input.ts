// Lines of a trace as an input: whole ones, and where in their file or stream they begin.

import type { Input } from "#intake/input.ts";
import type { Decoded, InputKind } from "#intake/input-kind.ts";
import { bundledSchemas } from "#wire/semantiva/bundled.ts";
import {
  decodeLines,
  decodeLinesInSteps,
  type LinesSource,
  longLineBytes,
  type SemantivaChunk,
} from "#wire/semantiva/decode-lines.ts";
import { createRegistry, createRegistryInSteps, type Registry } from "#wire/semantiva/registry.ts";
import { applySemantiva, applySemantivaInSteps, groupsOf, placeFaults } from "./apply.ts";

export interface SemantivaLinesInput extends Input, LinesSource {
  readonly kind: "semantiva_lines";
}

/** Compiling the schemas takes a while: a server does it when it has started, and a command that needs none does not. */
let registry: Registry | undefined;

export const lineInputs: InputKind<SemantivaLinesInput> = {
  kind: "semantiva_lines",
  decode(input, limits) {
    registry ??= createRegistry(bundledSchemas);
    return toDecodedLines(decodeLines(input, registry, limits));
  },
  *decodeInSteps(input, limits) {
    registry ??= createRegistry(bundledSchemas);
    return toDecodedLines(yield* decodeLinesInSteps(input, registry, limits));
  },
  *warm() {
    registry ??= yield* createRegistryInSteps(bundledSchemas);
  },
};

function toDecodedLines(chunk: SemantivaChunk): Decoded {
  const applyInSteps: NonNullable<Decoded["applyInSteps"]> = (state, arrival, position) =>
    applySemantivaInSteps(state, chunk, { ...arrival, position });
  const hasLong = chunk.taken.some(({ bytes }) => bytes.length > longLineBytes);
  return {
    prepare: (state, { workspace }) =>
      state.prepareGroups(groupsOf(chunk, workspace)) ??
      state.prepareFaults(workspace, chunk, placeFaults(chunk, workspace)),
    apply: (state, arrival, position) => applySemantiva(state, chunk, { ...arrival, position }),
    ...(hasLong ? { applyInSteps } : {}),
  };
}
