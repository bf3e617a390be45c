// All protocols behind one door: an input's kind decides who decodes it and who turns it into rows. The state
// that identities, groups and aliases make is here and nowhere else; it changes only by `apply`, in the order
// of the journal.

import { createHash } from "node:crypto";
import type { JsonLimits } from "#base/json/value.ts";
import type { Fault, FaultCode } from "#model/fault.ts";
import { formatGroupKey, groupKinds } from "#model/group-key.ts";
import type { StateChange } from "#model/state-tables.ts";
import { createRows } from "#model/tables.ts";
import { type DecodeResult, decodeBatch } from "#wire/cirron/decode.ts";
import { defaultSplitLimits } from "#wire/semantiva/lines.ts";
import type { Registry } from "#wire/semantiva/registry.ts";
import { type Applied, nothingApplied } from "./applied.ts";
import { decodeChanges } from "./changes.ts";
import { applyCirronBatch } from "./cirron/apply.ts";
import { CirronWorkspace } from "./cirron/workspace.ts";
import { pushFault, toFaultRows } from "./fault-rows.ts";
import { PlainGroups } from "./groups.ts";
import { IdMap, idWords } from "./id-map.ts";
import type { BlobInput, ChangeInput, Input, LogLinesInput, RefusedInput, WrapperLinesInput } from "./input.ts";
import { splitLines, toLogRows } from "./log-rows.ts";
import { applySemantiva } from "./semantiva/apply.ts";
import { decodeLines, type LineLimits, type SemantivaChunk } from "./semantiva/decode-lines.ts";
import type { Applier } from "./sequencer.ts";
import { decodeWrapperLines, toSampleRows, toWrapperEvents, type WrapperLines } from "./wrapper-lines.ts";
import { applyXtrack, groupsToLoad, type XtrackState } from "./xtrack/apply.ts";
import { XtrackIdentities } from "./xtrack/identities.ts";
import { type DecodedXtrack, decodeXtrack } from "./xtrack/stream.ts";

/** Identities of XTrack events that the store holds: (worker, seq, time) of every event of a group. */
export type LoadIdentities = (
  groupKey: string,
  take: (worker: string, seq: bigint, tsNs: bigint) => void,
  /** This collector has written to the group, so that it must not miss one of its own. */
  isKnown: boolean,
) => Promise<void>;

export interface ApplierOptions {
  readonly sessionGapNs: bigint;
  readonly json: JsonLimits;
  /** The longest line of a trace stream. */
  readonly lineBytesMax?: number;
  readonly registry: Registry;
  readonly loadIdentities: LoadIdentities;
  /** This collector's name when others write to the same store. */
  readonly writer?: string;
}

export class ProtocolApplier implements Applier {
  groups = new PlainGroups();
  /** Lines, faults and captured output by their own hashes. */
  seen = new IdMap();
  identities = new XtrackIdentities();
  /** On a shared store, the groups that this collector is known to write to. */
  written = new Set<string>();
  private cirron = new Map<string, CirronWorkspace>();
  /** Set while a deletion is carried out: nothing after it is applied until then. */
  private held: PromiseWithResolvers<void> | null = null;
  private readonly options: ApplierOptions;
  private readonly lineLimits: LineLimits;

  constructor(options: ApplierOptions) {
    this.options = options;
    const { lineBytesMax = defaultSplitLimits.lineBytesMax, json } = options;
    this.lineLimits = { lineBytesMax, json };
  }

  get writer(): string | undefined {
    return this.options.writer;
  }

  cirronOf(workspace: string): CirronWorkspace {
    let state = this.cirron.get(workspace);
    if (state === undefined) {
      state = new CirronWorkspace(workspace, this.options.sessionGapNs);
      this.cirron.set(workspace, state);
    }
    return state;
  }

  cirronStates(): CirronWorkspace[] {
    return [...this.cirron.values()];
  }

  /** A line of captured output that the store already holds. */
  noteCapturedLine(groupKey: string, stream: string, offset: number): void {
    this.isNew(capturedIdentity(groupKey, stream, offset));
  }

  /** The run that a group's rows belong to now. */
  runOf(groupKey: string): string | undefined {
    const plain = this.groups.runOf(groupKey);
    if (plain !== undefined) return plain;
    for (const state of this.cirron.values()) {
      const run = state.map.runOf(groupKey);
      if (run !== undefined) return run;
    }
    return undefined;
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

  /** The identities of an XTrack run that is in the store but not in memory are read before its next events. */
  prepare(input: Input, decoded: unknown): Promise<void> | null {
    if (this.held !== null) return this.held.promise.then(() => this.prepare(input, decoded) ?? undefined);
    if (input.kind !== "xtrack_frames") return null;
    const isShared = this.options.writer !== undefined;
    const missing = groupsToLoad(this.xtrack, decoded as DecodedXtrack, input.workspace, isShared);
    return missing.length === 0 ? null : this.load(missing);
  }

  apply(position: number, input: Input, decoded: unknown): Applied {
    const applied = this.applyInput(position, input, decoded);
    const { writer } = this.options;
    if (writer === undefined) return applied;
    const changes = this.noteWritten(applied.parts, writer, input.receivedNs);
    return changes.length === 0 ? applied : { ...applied, state: [...applied.state, ...changes] };
  }

  private noteWritten(parts: Applied["parts"], collector: string, version: bigint): StateChange[] {
    const keys = new Set(parts.flatMap(({ rows }) => rows.group_key.keys.filter((key) => !this.written.has(key))));
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
        return applySemantiva(this, decoded as SemantivaChunk, { ...input, position });
      case "xtrack_frames":
        return applyXtrack(this.xtrack, input, decoded as DecodedXtrack, { ...input, position });
      case "log_lines":
        return this.applyLogLines(position, input);
      case "wrapper_lines":
        return this.applyWrapperLines(position, input, decoded as WrapperLines);
      case "blob":
        return applyBlob(input, this.groups);
      case "refused":
        return keepRefused(input, position);
      case "change":
        return this.applyChange(input);
    }
  }

  private get xtrack(): XtrackState {
    return { identities: this.identities, groups: this.groups, seenFaults: this.seen };
  }

  private async load(groupKeys: readonly string[]): Promise<void> {
    for (const groupKey of groupKeys) {
      const take = (worker: string, seq: bigint, tsNs: bigint): void => {
        this.identities.load(groupKey, worker, seq, tsNs);
      };
      await this.options.loadIdentities(groupKey, take, this.groups.runOf(groupKey) !== undefined);
      this.identities.complete(groupKey, 0);
    }
  }

  private applyLogLines(position: number, input: LogLinesInput): Applied {
    const groupKey = formatGroupKey(input.workspace, groupKinds.wrapper, input.wrapperId);
    const state = this.groups.note(groupKey, { ...input, protocol: "run", ownId: input.wrapperId });
    const lines = splitLines(input.body, input.offset);
    const fresh = lines.filter((line) => this.isNew(capturedIdentity(groupKey, input.stream, line.offset)));
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

  /** The deletion is done: what waits is applied. */
  resume(): void {
    this.held?.resolve();
    this.held = null;
  }

  /** Everything that was known, before it is read from the store again. */
  forgetAll(): void {
    this.groups = new PlainGroups();
    this.seen = new IdMap();
    this.identities = new XtrackIdentities();
    this.written = new Set();
    this.cirron = new Map();
  }

  get isHeld(): boolean {
    return this.held !== null;
  }

  private applyWrapperLines(position: number, input: WrapperLinesInput, decoded: WrapperLines): Applied {
    const { workspace, wrapperId, transport, receivedNs } = input;
    const groupKey = formatGroupKey(workspace, groupKinds.wrapper, wrapperId);
    const state = this.groups.note(groupKey, { ...input, protocol: "run", ownId: wrapperId });
    const fresh = decoded.records.filter(({ n }) => this.isNew(capturedIdentity(groupKey, "wrapper", n)));
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

  private applyChange(input: ChangeInput): Applied {
    if (input.change === "delete") {
      this.held ??= Promise.withResolvers<void>();
      return { ...nothingApplied, state: toDeletionRows(input), accepted: 1 };
    }
    return { ...nothingApplied, state: decodeChanges(input.body), accepted: 1 };
  }

  private isNew(identity: string): boolean {
    const digest = createHash("sha256").update(identity).digest();
    for (let word = 0; word < 4; word++) idWords[word] = digest.readUInt32BE(word * 4);
    if (this.seen.get() >= 0) return false;
    this.seen.set(0);
    return true;
  }
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

function capturedIdentity(groupKey: string, stream: string, offset: number): string {
  return `${groupKey}\0${stream}\0${offset}`;
}

const artifactPrefix = "artifact:";

function applyBlob(input: BlobInput, groups: PlainGroups): Applied {
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
  if (!input.blobKind.startsWith(artifactPrefix)) return { ...nothingApplied, state: [row], accepted: 1 };
  // A file may be all that is known of a run.
  const groupKey = formatGroupKey(input.workspace, groupKinds.artifact, input.spanId);
  const noted = groups.note(groupKey, { ...input, protocol: "run", ownId: input.spanId });
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
