// A protocol is one object in one folder: everything that the other rooms have to know of it. They ask the registry in
// `protocols.ts` and never a protocol by name.

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
  /** Its HTTP doors; none for one that is only spoken over sockets or read from files. */
  readonly doors: readonly HttpDoor[];
  /** The kind of a file of this protocol, from its name and first bytes; null if it is not one of its files. */
  detect(file: FileHead): Detection | null;
  /** The lines that its records are in our own export, and how they come back. */
  readonly exported: readonly ExportedKind[];
  /** Its stored rows back to what was sent. */
  readonly records: StoredRecords;
}

/** One route by which bodies come in over HTTP. */
export interface HttpDoor {
  readonly route: IngestRoute;
  /** Nothing looks at a body any more once its records are applied, so that its memory can be used again. */
  readonly copiesBody?: true;
  /** Of several protocols on one route, whose request this is. The one that does not ask gets the rest. */
  claims?(request: RequestHead): boolean;
  /** A promise when the body is so large that it is decoded in turns with other work. */
  take(request: IngestRequest): TakenRequest | Promise<TakenRequest>;
  /** What a client gets whose request is not taken; without it, the API's own words. */
  toErrorReply?(trouble: Trouble, request: RequestHead): Reply;
}

/** Why a request is not taken. */
export interface Trouble {
  /** What the API answers it with. */
  readonly status: number;
  readonly message: string;
  /** When to try again; null if that is pointless. */
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
  /** As the schema of the route has it. */
  readonly query: IngestQuery;
  readonly limits: Pick<DecodeLimits, "json" | "stepNames">;
}

/** The queries of all routes; which of them a route has, its schema says. */
export interface IngestQuery {
  readonly wait?: string;
  readonly imported?: "1";
  readonly source?: string;
  readonly run?: string;
  readonly file?: string;
  readonly line?: number;
  readonly offset?: number;
  readonly current_run?: string;
  /** Text may stand between frames. */
  readonly text?: "1";
  readonly wrapper?: string;
  readonly stream?: "stdout" | "stderr";
  readonly at_ns?: string;
}

/** What a request becomes. */
export interface TakenRequest {
  /**
   * The journal records to make of it, in order; each is made when the one before it is on its way. A null is a pause
   * before the next: others may have a turn.
   */
  readonly submissions: Iterable<Submission | null>;
  /** Nothing of it can be understood: it is kept as this fault, and that is the answer. */
  readonly refused: Fault | null;
  /** `durable` does not wait until it is known which records are new. */
  readonly answerWhen: "durable" | "applied";
  toReply(receipt: IngestReceipt): Reply;
}

export interface Submission {
  readonly input: Input;
  /** Answers to commands in it that name no run. */
  readonly answers?: readonly LooseAck[];
  /** What the input was decoded to, when that was done already. */
  readonly decoded?: Decoded;
}

/** The counts of all submissions together; zeros when the answer did not wait for them. */
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
