// A decoded chunk → rows. The only state is which lines were seen before and which run a group belongs to: a line that
// arrives again, in whatever chunk, file or order, is counted and not stored.

import type { OnMember } from "#base/json/format-sorted.ts";
import { lookThrough } from "#base/json/look-through.ts";
import { lossyOddities } from "#base/json/strict.ts";
import { atOnce } from "#base/turns.ts";
import type { Applied } from "#intake/applied.ts";
import { faultId, pushFault } from "#intake/fault-rows.ts";
import type { ArrivedAt } from "#intake/input.ts";
import type { KnownRecords, PlacedFault } from "#intake/intake-state.ts";
import { loadIdentity } from "#intake/record-identity.ts";
import type { AnyTablePart } from "#model/batch.ts";
import type { GroupKey } from "#model/group-key.ts";
import type { StateChange } from "#model/state-tables.ts";
import { createRows, type Rows } from "#model/tables.ts";
import { type FaultyLine, longLineBytes, type SemantivaChunk, type TakenLine } from "#wire/semantiva/decode-lines.ts";
import { isLifecycleType, type Keys, toFaultKey, toKeys } from "./keys.ts";
import { pushEvent, pushLifecycle, pushNode, readContext, toParams } from "./rows.ts";

export function applySemantiva(state: KnownRecords, chunk: SemantivaChunk, meta: ArrivedAt): Applied {
  return atOnce(applySemantivaInSteps(state, chunk, meta));
}

/** The same with pauses around long lines. */
export function* applySemantivaInSteps(
  state: KnownRecords,
  chunk: SemantivaChunk,
  meta: ArrivedAt,
): Generator<void, Applied> {
  const batch = new SemantivaBatch(state, chunk, meta);
  for (const line of chunk.taken) {
    const isLong = line.bytes.length > longLineBytes;
    // Its strict form is made with pauses, and then at hand.
    if (isLong && (line.message.oddities & lossyOddities) !== 0) yield* lookThrough(line.bytes);
    const keys = batch.meet(line);
    if (keys === null) continue;
    if (isNode(line)) batch.takeNode(line, keys);
    else yield* batch.takeOther(line, keys);
    if (isLong) yield;
  }
  for (const line of chunk.faulty) batch.keepFault(line);
  return {
    parts: batch.parts(),
    state: batch.changes,
    accepted: batch.accepted,
    duplicates: batch.duplicates,
    // The sender hears of a bad line every time it sends it, though the fault is stored once.
    faults: chunk.faulty.map(({ fault }) => fault),
  };
}

/** The groups that the lines of a chunk belong to. */
export function groupsOf(chunk: SemantivaChunk, workspace: string): Set<GroupKey> {
  const groups = new Set<GroupKey>();
  let last: GroupKey | undefined;
  for (const { message } of chunk.taken) {
    const { groupKey } = toKeys(message, workspace);
    if (groupKey !== last) groups.add(groupKey);
    last = groupKey;
  }
  return groups;
}

export function placeFaults({ faulty }: SemantivaChunk, workspace: string): PlacedFault[] {
  return faulty.map(({ fault, runId }) => ({ fault, groupKey: toFaultKey(workspace, runId) }));
}

const hexDigits = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
const eventId = new Uint8Array(32);

/** Valid until the next one is asked for. */
function toEventId(digest: Uint8Array): Uint8Array {
  for (let at = 0; at < 16; at++) {
    const byte = digest[at] as number;
    eventId[at * 2] = hexDigits[byte >> 4] as number;
    eventId[at * 2 + 1] = hexDigits[byte & 15] as number;
  }
  return eventId;
}

function isNode({ message }: TakenLine): boolean {
  return message.known && message.type === "ser";
}

/** With room for the text of all nodes of the chunk, which is most of what is stored of it. */
function createNodes({ taken }: SemantivaChunk): Rows<"nodes"> {
  const rows = createRows("nodes");
  let count = 0;
  let bytes = 0;
  for (const line of taken) {
    if (!isNode(line)) continue;
    count++;
    bytes += line.bytes.length;
  }
  rows.payload.reserve(count, bytes);
  return rows;
}

class SemantivaBatch {
  readonly changes: StateChange[] = [];
  accepted = 0;
  duplicates = 0;
  private readonly state: KnownRecords;
  private readonly meta: ArrivedAt;
  private readonly chunk: SemantivaChunk;
  // Made with the first row: most chunks that come alone have rows of one or two tables.
  private events: Rows<"events"> | undefined;
  private nodes: Rows<"nodes"> | undefined;
  private lifecycle: Rows<"lifecycle"> | undefined;
  private params: Rows<"params"> | undefined;
  private faults: Rows<"faults"> | undefined;
  private readonly notedGroups = new Set<string>();

  constructor(state: KnownRecords, chunk: SemantivaChunk, meta: ArrivedAt) {
    this.state = state;
    this.chunk = chunk;
    this.meta = meta;
  }

  /** Whose a line is; null when it is a copy of one that is known. */
  meet({ message, digest }: TakenLine): Keys | null {
    const keys = toKeys(message, this.meta.workspace);
    // Also for a copy: a live copy of what was imported makes its group live, and a named one names it.
    this.noteGroup(keys);
    loadIdentity(digest, this.meta.workspace);
    const lines = this.state.groups.linesOf(keys.groupKey, this.meta.position);
    if (lines.getOrSet(0) >= 0) {
      this.duplicates++;
      return null;
    }
    this.accepted++;
    return keys;
  }

  takeNode(line: TakenLine, keys: Keys): void {
    this.nodes ??= createNodes(this.chunk);
    pushNode(this.nodes, line, keys, toEventId(line.digest), this.meta);
  }

  *takeOther(line: TakenLine, keys: Keys): Generator<void, void> {
    const { message, digest } = line;
    this.events ??= createRows("events");
    pushEvent(this.events, line, keys, toEventId(digest), this.meta);
    if (!message.known || !isLifecycleType(message.type)) return;
    yield;
    const context = yield* readContext(line, this.membersInto(line, keys));
    yield;
    this.lifecycle ??= createRows("lifecycle");
    pushLifecycle(this.lifecycle, line, keys, toEventId(digest), context, this.meta);
  }

  /** What a run starts with is among its params. */
  private membersInto(line: TakenLine, keys: Keys): OnMember | undefined {
    if (line.message.type !== "pipeline_start") return undefined;
    this.params ??= createRows("params");
    return toParams(this.params, line, keys, this.meta);
  }

  keepFault({ fault, runId, at }: FaultyLine): void {
    const id = faultId(fault);
    loadIdentity(Buffer.from(id, "hex"), this.meta.workspace);
    if (!this.state.faults.add()) return;
    const { workspace, receivedNs, position, transport } = this.meta;
    const groupKey = toFaultKey(workspace, runId);
    this.faults ??= createRows("faults");
    pushFault(
      this.faults,
      fault,
      id,
      { workspace, groupKey, protocol: "semantiva", transport, receivedNs, position },
      at,
    );
  }

  parts(): AnyTablePart[] {
    const parts: AnyTablePart[] = [];
    const { events, nodes, lifecycle, params, faults } = this;
    if (events !== undefined) parts.push({ table: "events", rows: events, dropped: null });
    if (nodes !== undefined) parts.push({ table: "nodes", rows: nodes, dropped: null });
    if (lifecycle !== undefined) parts.push({ table: "lifecycle", rows: lifecycle, dropped: null });
    if (params !== undefined && params.group_key.length > 0)
      parts.push({ table: "params", rows: params, dropped: null });
    if (faults !== undefined) parts.push({ table: "faults", rows: faults, dropped: null });
    return parts;
  }

  private noteGroup({ groupKey, runId, launchId }: Keys): void {
    if (this.notedGroups.has(groupKey)) return;
    this.notedGroups.add(groupKey);
    const { workspace, imported, receivedNs } = this.meta;
    const ofRun = runId !== "";
    const cause = {
      workspace,
      protocol: ofRun ? "semantiva" : "launch",
      ownId: ofRun ? runId : launchId,
      // A named run is where pipelines report to; a launch stays itself.
      runOverride: ofRun ? this.meta.runOverride : null,
      imported,
      receivedNs,
    };
    for (const change of this.state.groups.note(groupKey, cause, this.meta.position)) this.changes.push(change);
  }
}
