// A decoded chunk → rows. The only state is which lines were seen before and which run a group belongs to: a line that
// arrives again, in whatever chunk, file or order, is counted and not stored.

import type { Applied } from "#intake/applied.ts";
import { faultId, pushFault } from "#intake/fault-rows.ts";
import type { IdMap } from "#intake/id-map.ts";
import type { ArrivedAt } from "#intake/input.ts";
import type { KnownRecords, PlacedFault } from "#intake/intake-state.ts";
import { loadIdentity, loadLineIdentity } from "#intake/record-identity.ts";
import type { AnyTablePart } from "#model/batch.ts";
import type { StateChange } from "#model/state-tables.ts";
import { createRows } from "#model/tables.ts";
import type { FaultyLine } from "#wire/semantiva/decode-lines.ts";
import { type Keys, toFaultKey } from "./keys.ts";
import type { LineRows } from "./line-rows.ts";

/** The lines of one input. */
export interface SemantivaChunk {
  readonly rows: LineRows;
  readonly faulty: readonly FaultyLine[];
}

export function applySemantiva(state: KnownRecords, { rows, faulty }: SemantivaChunk, meta: ArrivedAt): Applied {
  const changes: StateChange[] = [];
  const { copies, accepted, duplicates } = meetLines(state, rows, meta, changes);
  const parts = [...rows.toParts(meta, copies), ...keepFaults(state, faulty, meta)];
  // The sender hears of a bad line every time it sends it, though the fault is stored once.
  return { parts, state: changes, accepted, duplicates, faults: faulty.map(({ fault }) => fault) };
}

export function placeFaults({ faulty }: SemantivaChunk, workspace: string): PlacedFault[] {
  return faulty.map(({ fault, runId }) => ({ fault, groupKey: toFaultKey(workspace, runId) }));
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
      // Also for a copy: a live copy of what was imported makes its group live, and a named one names it.
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
    // A named run is where pipelines report to; a launch stays itself.
    runOverride: ofRun ? runOverride : null,
    imported,
    receivedNs,
  };
  return state.groups.note(groupKey, cause, position);
}

function keepFaults(state: KnownRecords, faulty: readonly FaultyLine[], meta: ArrivedAt): AnyTablePart[] {
  if (faulty.length === 0) return [];
  const rows = createRows("faults");
  const { workspace, receivedNs, position, transport } = meta;
  for (const { fault, runId, at } of faulty) {
    const id = faultId(fault);
    loadIdentity(Buffer.from(id, "hex"), workspace);
    if (!state.faults.add()) continue;
    const groupKey = toFaultKey(workspace, runId);
    pushFault(rows, fault, id, { workspace, groupKey, protocol: "semantiva", transport, receivedNs, position }, at);
  }
  return rows.group_key.length === 0 ? [] : [{ table: "faults", rows, dropped: null }];
}
