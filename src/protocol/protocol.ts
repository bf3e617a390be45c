// A protocol is one object in one folder: everything that the other rooms have to know about it. They ask the registry in
// `protocols.ts`, and never a protocol by name.

import type { Arrival, Input, PackedBody } from "#intake/input.ts";
import type { Decoded, DecodeLimits, InputKind } from "#intake/input-kind.ts";
import type { Fault } from "#model/fault.ts";
import type { LooseAck } from "#wire/xtrack/loose-acks.ts";
import type { ExportedKind } from "./exported.ts";
import type { IngestRoute } from "./facts.ts";
import type { Detection, FileHead } from "./file-kind.ts";
import type { ProtocolFacts } from "./protocol-facts.ts";
import type { StoredRecords } from "./stored-record.ts";

export interface Protocol {
  /** What it is called and where its clients post. */
  readonly facts: ProtocolFacts;
  /** The kinds of journal records that it makes, each with how it is decoded, prepared and applied. */
  readonly inputs: readonly InputKind[];
  /** Its HTTP doors; none if it is only spoken over sockets or read from files. */
  readonly doors: readonly HttpDoor[];
  /** The kind of a file of this protocol, from its name and first bytes; null if it is not one of its files. */
  detect(file: FileHead): Detection | null;
  /** The kinds of lines that its records have in our own export, and how they are imported. */
  readonly exported: readonly ExportedKind[];
  /** Its stored rows back to what was sent. */
  readonly records: StoredRecords;
}

/** Takes the bodies posted to one route. */
export interface HttpDoor {
  readonly route: IngestRoute;
  /** Nothing refers to a body once its records are applied, so its memory can be reused. */
  readonly copiesBody?: true;
  /** If several protocols share the route: whether this request is its own. The one without `claims` gets the rest. */
  claims?(request: RequestHead): boolean;
  /** A promise when the body is so large that it is decoded in turns with other work. */
  take(request: IngestRequest): TakenRequest | Promise<TakenRequest>;
  /** The answer to a request that is not taken; by default that of the API. */
  toErrorReply?(trouble: Trouble, request: RequestHead): Reply;
}

/** Why a request is not taken. */
export interface Trouble {
  /** The status that the API would answer with. */
  readonly status: number;
  readonly message: string;
  /** After how many seconds to try again; null if that is pointless. */
  readonly retryAfterS: number | null;
}

export interface RequestHead {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Decompressed. */
  readonly body: Uint8Array;
}

export interface IngestRequest extends RequestHead {
  readonly arrival: Omit<Arrival, "body">;
  readonly packed?: PackedBody;
  /** Checked against the schema of the route. */
  readonly query: IngestQuery;
  readonly limits: Pick<DecodeLimits, "json" | "stepNames">;
}

/** The query parameters of all routes; the schema of a route says which it has. */
export interface IngestQuery {
  readonly wait?: string;
  readonly imported?: "1";
  readonly source?: string;
  readonly run?: string;
  readonly file?: string;
  readonly line?: number;
  readonly offset?: number;
  readonly current_run?: string;
  /** There may be text between frames. */
  readonly text?: "1";
  readonly wrapper?: string;
  readonly stream?: "stdout" | "stderr";
  readonly at_ns?: string;
}

/** What a request becomes. */
export interface TakenRequest {
  /**
   * The journal records to make of it, in order; each is made when the one before it is on its way. A null is a pause, in which
   * other work gets a turn.
   */
  readonly submissions: Iterable<Submission | null>;
  /** If nothing of it can be understood: the fault that is kept and answered. */
  readonly refused: Fault | null;
  /** `durable`: without waiting until it is known which records are new. */
  readonly answerWhen: "durable" | "applied";
  toReply(receipt: IngestReceipt): Reply;
}

export interface Submission {
  readonly input: Input;
  /** Answers to commands in it that name no run. */
  readonly answers?: readonly LooseAck[];
  /** The decoded input, if it was decoded already. */
  readonly decoded?: Decoded;
}

/** The counts of all submissions together; zeros if the answer did not wait for them. */
export interface IngestReceipt {
  readonly accepted: number;
  readonly duplicates: number;
  readonly faults: readonly Fault[];
}

export interface Reply {
  readonly status: number;
  /** Bytes are sent as they are, anything else as JSON. */
  readonly body: object | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}
