// A decoded chunk → rows. The only state is which lines were seen before and which run a group belongs to: a line that
// arrives again, in whatever chunk, file or order, is counted and not stored.

import type { Applied } from "#intake/applied.ts";
import { type PlacedFault, toFaultParts } from "#intake/fault-rows.ts";
import type { IdMap } from "#intake/id-map.ts";
import type { ArrivedAt } from "#intake/input.ts";
import type { KnownRecords } from "#intake/intake-state.ts";
import { loadLineIdentity } from "#intake/record-identity.ts";
import type { StateChange } from "#model/state-tables.ts";
import type { FaultyLine } from "#wire/semantiva/decode-lines.ts";
import { type Keys, toFaultKey } from "./keys.ts";
import type { LineRows } from "./line-rows.ts";

/** The lines of one input. */
export interface SemantivaChunk {
  readonly rows: LineRows;
  readonly faulty: readonly FaultyLine[];
}

export function applySemantiva(state: KnownRecords, chunk: SemantivaChunk, meta: ArrivedAt): Applied {
  const { rows, faulty } = chunk;
  const changes: StateChange[] = [];
  const { copies, accepted, duplicates } = meetLines(state, rows, meta, changes);
  const faults = toFaultParts(placeFaults(chunk, meta.workspace), "semantiva", meta, state.faults);
  const parts = [...rows.toParts(meta, copies), ...faults];
  // The sender hears of a bad line every time it sends it, though the fault is stored once.
  return { parts, state: changes, accepted, duplicates, faults: faulty.map(({ fault }) => fault) };
}

export function placeFaults({ faulty }: SemantivaChunk, workspace: string): PlacedFault[] {
  return faulty.map(({ fault, runId, at }) => ({ fault, groupKey: toFaultKey(workspace, runId), at }));
}

interface MetLines {
  /** By the lines' places in the chunk. */
  readonly copies: Uint8Array | null;
  readonly accepted: number;
  readonly duplicates: number;
}

function meetLines(state: KnownRecords, rows: LineRows, meta: ArrivedAt, changes: StateChange[]): MetLines {
  const { groups, groupOf, identities, places } = rows;
  const known: (IdMap | undefined)[] = [];
  let copies: Uint8Array | null = null;
  let duplicates = 0;
  const count = places.length;
  for (let line = 0; line < count; line++) {
    const group = groupOf.at(line);
    let lines = known[group];
    if (lines === undefined) {
      const keys = groups[group] as Keys;
      // Copies count too: a live copy of imported lines makes the group live, and a copy sent to a named run names it.
      for (const change of noteGroup(state, keys, meta)) changes.push(change);
      lines = state.groups.linesOf(keys.groupKey, meta.position);
      known[group] = lines;
    }
    loadLineIdentity(identities.values, line * 4, meta.workspace);
    if (lines.getOrSet(0) < 0) continue;
    duplicates++;
    copies ??= new Uint8Array(places.at(count - 1) + 1);
    copies[places.at(line)] = 1;
  }
  return { copies, accepted: count - duplicates, duplicates };
}

function noteGroup(state: KnownRecords, { groupKey, runId, launchId }: Keys, meta: ArrivedAt): StateChange[] {
  const { workspace, imported, receivedNs, runOverride, position } = meta;
  const ofRun = runId !== "";
  const cause = {
    workspace,
    protocol: ofRun ? "semantiva" : "launch",
    ownId: ofRun ? runId : launchId,
    // The named run is for pipelines; a launch keeps its own id.
    runOverride: ofRun ? runOverride : null,
    imported,
    receivedNs,
  };
  return state.groups.note(groupKey, cause, position);
}
