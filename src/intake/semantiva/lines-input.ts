// Whole lines of a trace as an input, with their place in their file or stream.

import type { Input } from "#intake/input.ts";
import type { Decoded, InputKind } from "#intake/input-kind.ts";
import type { GroupKey } from "#model/group-key.ts";
import { bundledSchemas } from "#wire/semantiva/bundled.ts";
import { decodeLinesInSteps, type LineLimits, type LinesSource } from "#wire/semantiva/decode-lines.ts";
import { createRegistry, createRegistryInSteps, type Registry } from "#wire/semantiva/registry.ts";
import { applySemantiva, placeFaults, type SemantivaChunk } from "./apply.ts";
import { LineRows } from "./line-rows.ts";

export interface SemantivaLinesInput extends Input, LinesSource {
  readonly kind: "semantiva_lines";
}

/** Compiling the schemas takes a while. A server does it after its start; a command that does not need them never does. */
let registry: Registry | undefined;

export const lineInputs: InputKind<SemantivaLinesInput> = {
  kind: "semantiva_lines",
  *decode(input, limits) {
    registry ??= createRegistry(bundledSchemas);
    return toDecodedLines(yield* readLinesInSteps(input, registry, limits));
  },
  *warm() {
    registry ??= yield* createRegistryInSteps(bundledSchemas);
  },
};

/** The lines as rows of this workspace. */
export function* readLinesInSteps(
  source: LinesSource & { readonly workspace: string },
  registry: Registry,
  limits?: LineLimits,
): Generator<void, SemantivaChunk> {
  const rows = new LineRows(source.workspace, source.body.length);
  const faulty = yield* decodeLinesInSteps(source, registry, (line) => rows.take(line), limits);
  return { rows, faulty };
}

function toDecodedLines(chunk: SemantivaChunk): Decoded {
  return {
    prepare: (state, { workspace }) =>
      state.prepareGroups(groupKeysOf(chunk)) ?? state.prepareFaults(workspace, chunk, placeFaults(chunk, workspace)),
    apply: (state, arrival, position) => applySemantiva(state, chunk, { ...arrival, position }),
  };
}

function* groupKeysOf({ rows }: SemantivaChunk): Generator<GroupKey> {
  for (const { groupKey } of rows.groups) yield groupKey;
}
