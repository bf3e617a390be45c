// All protocols behind one door: an input's kind decides who decodes it and who turns it into rows. The state
// that identities, groups and aliases make is here and nowhere else; it changes only by `apply`, in the order
// of the journal.

import { createHash } from "node:crypto";
import { nowNs } from "#base/clock.ts";
import type { JsonLimits } from "#base/json/value.ts";
import type { Fault, FaultCode } from "#model/fault.ts";
import { formatGroupKey, type GroupKey, groupKinds } from "#model/group-key.ts";
import type { StateChange } from "#model/state-tables.ts";
import { createRows } from "#model/tables.ts";
import { type DecodeResult, decodeBatch } from "#wire/cirron/decode.ts";
import { defaultSplitLimits } from "#wire/semantiva/lines.ts";
import type { Registry } from "#wire/semantiva/registry.ts";
import { type Applied, nothingApplied } from "./applied.ts";
import { decodeChanges } from "./changes.ts";
import { applyCirronBatch } from "./cirron/apply.ts";
import type { CirronWorkspace } from "./cirron/workspace.ts";
import { pushFault, toFaultRows } from "./fault-rows.ts";
import { idWords } from "./id-map.ts";
import type { BlobInput, ChangeInput, Input, LogLinesInput, RefusedInput, WrapperLinesInput } from "./input.ts";
import { type IntakeLimits, IntakeState } from "./intake-state.ts";
import type { IntakeStore } from "./intake-store.ts";
import type { KnownGroups } from "./known-groups.ts";
import { splitLines, toLogRows } from "./log-rows.ts";
import { applySemantiva } from "./semantiva/apply.ts";
import { decodeLines, type LineLimits, type SemantivaChunk } from "./semantiva/decode-lines.ts";
import type { Applier } from "./sequencer.ts";
import { decodeWrapperLines, toSampleRows, toWrapperEvents, type WrapperLines } from "./wrapper-lines.ts";
import { applyXtrack } from "./xtrack/apply.ts";
import { type DecodedXtrack, decodeXtrack } from "./xtrack/stream.ts";

export interface ApplierOptions {
  readonly sessionGapNs: bigint;
  readonly json: JsonLimits;
  /** The longest line of a trace stream. */
  readonly lineBytesMax?: number;
  readonly registry: Registry;
  readonly store: IntakeStore;
  /** The store holds nothing yet. */
  readonly isFresh: boolean;
  readonly limits?: IntakeLimits;
  /** This collector's name when others write to the same store. */
  readonly writer?: string;
}

export class ProtocolApplier implements Applier {
  readonly state: IntakeState;
  /** On a shared store, the groups that this collector was seen to write to lately. */
  private written = new Set<string>();
  /** Set while another collector deletes: nothing is applied until then. */
  private held: PromiseWithResolvers<void> | null = null;
  private readonly options: ApplierOptions;
  private readonly lineLimits: LineLimits;

  constructor(options: ApplierOptions) {
    this.options = options;
    const { lineBytesMax = defaultSplitLimits.lineBytesMax, json, store, sessionGapNs, isFresh, limits } = options;
    this.lineLimits = { lineBytesMax, json };
    this.state = new IntakeState(store, sessionGapNs, isFresh, limits);
  }

  get groups(): KnownGroups {
    return this.state.groups;
  }

  cirronOf(workspace: string): CirronWorkspace {
    return this.state.cirronOf(workspace);
  }

  /** The run that a group's rows belong to now, if that is in memory. */
  runOf(groupKey: string): string | undefined {
    return this.state.runOf(groupKey);
  }

  decode(input: Input): unknown {
    switch (input.kind) {
      case "cirron_batch":
        return decodeBatch(input.body, this.options.json);
      case "semantiva_lines":
        return decodeLines(input, this.options.registry, this.lineLimits);
      case "xtrack_frames":
        return decodeXtrack(input);
      case "wrapper_lines":
        return decodeWrapperLines(input.body);
      case "log_lines":
      case "blob":
      case "refused":
      case "change":
        return null;
    }
  }

  /** Reads from the store what the input needs and memory has let go. */
  prepare(input: Input, decoded: unknown): Promise<void> | null {
    if (this.held !== null) return this.held.promise;
    switch (input.kind) {
      case "cirron_batch": {
        const result = decoded as DecodeResult;
        return result.ok ? this.state.prepareBatch(input, result.batch) : null;
      }
      case "semantiva_lines":
        return this.state.prepareSemantiva(input, decoded as SemantivaChunk);
      case "xtrack_frames":
        return this.state.prepareXtrack(input, decoded as DecodedXtrack);
      case "log_lines":
      case "wrapper_lines":
        return this.state.prepareGroups([wrapperKey(input)]);
      case "blob":
        return isArtifact(input) ? this.state.prepareGroups([artifactKey(input)]) : null;
      case "refused":
      case "change":
        return null;
    }
  }

  apply(position: number, input: Input, decoded: unknown): Applied {
    const applied = this.applyInput(position, input, decoded);
    const { writer } = this.options;
    if (writer === undefined) return applied;
    const changes = this.noteWritten(applied.parts, writer, input.receivedNs);
    return changes.length === 0 ? applied : { ...applied, state: [...applied.state, ...changes] };
  }

  /** Lets go of what is stored and beyond the limits. */
  shrink(storedPosition: number, appliedPosition: number, everything = false): void {
    this.state.shrink(storedPosition, appliedPosition, nowNs(), everything);
  }

  /** A group's writers are told again when this was forgotten: that changes nothing. */
  private noteWritten(parts: Applied["parts"], collector: string, version: bigint): StateChange[] {
    if (this.written.size > writtenMax) this.written = new Set();
    const keys = new Set<string>();
    for (const { rows } of parts) for (const key of rows.group_key.keys) if (!this.written.has(key)) keys.add(key);
    return [...keys].map((group_key) => {
      this.written.add(group_key);
      return { table: "writers", row: { group_key, collector, version } };
    });
  }

  private applyInput(position: number, input: Input, decoded: unknown): Applied {
    switch (input.kind) {
      case "cirron_batch": {
        const result = decoded as DecodeResult;
        if (!result.ok) return keepFault(result.refusal, "cirron", input, position);
        return applyCirronBatch(this.cirronOf(input.workspace), position, input, result.batch);
      }
      case "semantiva_lines":
        return applySemantiva(this.state, decoded as SemantivaChunk, { ...input, position });
      case "xtrack_frames":
        return applyXtrack(this.state, input, decoded as DecodedXtrack, { ...input, position });
      case "log_lines":
        return this.applyLogLines(position, input);
      case "wrapper_lines":
        return this.applyWrapperLines(position, input, decoded as WrapperLines);
      case "blob":
        return applyBlob(input, this.groups, position);
      case "refused":
        return keepRefused(input, position);
      case "change":
        return applyChange(input);
    }
  }

  private applyLogLines(position: number, input: LogLinesInput): Applied {
    const groupKey = wrapperKey(input);
    const state = this.groups.note(groupKey, { ...input, protocol: "run", ownId: input.wrapperId }, position);
    const lines = splitLines(input.body, input.offset);
    const known = this.groups.linesOf(groupKey, position);
    const fresh = lines.filter((line) => {
      loadCaptured(input.stream, line.offset);
      return known.getOrSet(0) < 0;
    });
    const rows = toLogRows(fresh, input, groupKey, position);
    return {
      parts: fresh.length === 0 ? [] : [{ table: "logs", rows, dropped: null }],
      state,
      accepted: fresh.length,
      duplicates: lines.length - fresh.length,
      faults: [],
    };
  }

  /** Nothing is applied until `resume`: another collector deletes. */
  hold(): void {
    this.held ??= Promise.withResolvers<void>();
  }

  /** Resolves when nothing holds intake back. */
  async free(): Promise<void> {
    await this.held?.promise;
  }

  /** The other collector has deleted: what waits is applied, and what it changed is read again. */
  resume(): void {
    this.state.forgetAll();
    this.held?.resolve();
    this.held = null;
  }

  get isHeld(): boolean {
    return this.held !== null;
  }

  private applyWrapperLines(position: number, input: WrapperLinesInput, decoded: WrapperLines): Applied {
    const { workspace, wrapperId, transport, receivedNs } = input;
    const groupKey = wrapperKey(input);
    const state = this.groups.note(groupKey, { ...input, protocol: "run", ownId: wrapperId }, position);
    const known = this.groups.linesOf(groupKey, position);
    const fresh = decoded.records.filter(({ n }) => {
      loadCaptured("wrapper", n);
      return known.getOrSet(0) < 0;
    });
    const place = { groupKey, receivedNs, position };
    const events = toWrapperEvents(fresh, place);
    const samples = toSampleRows(fresh, place);
    const { faults } = decoded;
    const faultRows = toFaultRows(faults, { workspace, groupKey, protocol: "run", transport, receivedNs, position });
    return {
      parts: [
        ...(events.seq.length === 0 ? [] : [{ table: "events" as const, rows: events, dropped: null }]),
        ...(samples.seq.length === 0 ? [] : [{ table: "metrics" as const, rows: samples, dropped: null }]),
        ...(faults.length === 0 ? [] : [{ table: "faults" as const, rows: faultRows, dropped: null }]),
      ],
      state,
      accepted: fresh.length,
      duplicates: decoded.records.length - fresh.length,
      faults,
    };
  }
}

const writtenMax = 100_000;

function wrapperKey({ workspace, wrapperId }: LogLinesInput | WrapperLinesInput): GroupKey {
  return formatGroupKey(workspace, groupKinds.wrapper, wrapperId);
}

function artifactKey({ workspace, spanId }: BlobInput): GroupKey {
  return formatGroupKey(workspace, groupKinds.artifact, spanId);
}

function isArtifact({ blobKind }: BlobInput): boolean {
  return blobKind.startsWith(artifactPrefix);
}

function applyChange(input: ChangeInput): Applied {
  const state = input.change === "delete" ? toDeletionRows(input) : decodeChanges(input.body);
  return { ...nothingApplied, state, accepted: 1 };
}

/** Puts the identity of a captured line into `idWords`: its stream and its offset, or its number. */
export function loadCaptured(stream: string, offset: number): void {
  const digest = createHash("sha256").update(`${stream}\0${offset}`).digest();
  for (let word = 0; word < 4; word++) idWords[word] = digest.readUInt32BE(word * 4);
}

/** Groups under a newer version that says when they were deleted, and the audit's line. */
function toDeletionRows(input: ChangeInput): StateChange[] {
  const { runs } = JSON.parse(new TextDecoder().decode(input.body)) as {
    runs: { runId: string; groupKeys: string[] }[];
  };
  const { workspace, receivedNs, author } = input;
  const gone = { session_id: "", root_kind: "", rank: 0, pipeline_id: null, deployment_id: null, model_id: null };
  const flags = { forked: 0, imported: 0, deleted_ns: receivedNs, version: receivedNs };
  return runs.flatMap(({ runId, groupKeys }, at): StateChange[] => {
    const row = { workspace, protocol: "deleted", run_id: runId, ...gone, ...flags };
    const hidden = groupKeys.map((group_key): StateChange => ({ table: "groups", row: { ...row, group_key } }));
    const audit = { workspace, at_ns: receivedNs + BigInt(at), author, action: "run_deleted", subject: runId };
    return [...hidden, { table: "audit", row: { ...audit, detail: "{}", version: receivedNs } }];
  });
}

const artifactPrefix = "artifact:";

function applyBlob(input: BlobInput, groups: KnownGroups, position: number): Applied {
  const row: StateChange = {
    table: "blobs",
    row: {
      workspace: input.workspace,
      span_id: input.spanId,
      kind: input.blobKind,
      object_key: input.objectKey,
      size: BigInt(input.size),
      sha256: input.sha256,
      content_type: input.contentType,
      received_ns: input.receivedNs,
      deleted: 0,
      version: input.receivedNs,
    },
  };
  if (!isArtifact(input)) return { ...nothingApplied, state: [row], accepted: 1 };
  // A file may be all that is known of a run.
  const noted = groups.note(artifactKey(input), { ...input, protocol: "run", ownId: input.spanId }, position);
  return { ...nothingApplied, state: [row, ...noted], accepted: 1 };
}

function keepRefused(input: RefusedInput, position: number): Applied {
  const place = JSON.parse(input.place) as Fault["place"];
  const fault: Fault = { code: input.code as FaultCode, detail: input.detail, place, raw: input.body };
  if (input.faultId === undefined) return keepFault(fault, input.protocol, input, position);
  const { workspace, protocol, transport, receivedNs, groupKey = "", faultId } = input;
  const rows = createRows("faults");
  pushFault(rows, fault, faultId, { workspace, groupKey, protocol, transport, receivedNs, position }, 0);
  return { ...nothingApplied, parts: [{ table: "faults", rows, dropped: null }], faults: [fault] };
}

function keepFault(fault: Fault, protocol: string, input: Input, position: number): Applied {
  const { workspace, transport, receivedNs } = input;
  const rows = toFaultRows([fault], { workspace, groupKey: "", protocol, transport, receivedNs, position });
  return { ...nothingApplied, parts: [{ table: "faults", rows, dropped: null }], faults: [fault] };
}
