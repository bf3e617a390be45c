// The part of a protocol that every room may know, without code.

export interface IngestPath {
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly scope: "ingest";
  readonly summary: string;
  /** The content types that clients send; others are taken too if the body itself shows what it is. */
  readonly media: readonly string[];
}

export type RunTrait =
  /** Sessions of processes, each with a rank; a session's own span is its end, and its numeric marks are points. */
  | "sessions"
  /** Pipelines of nodes, complete or not, alone or in a launch. */
  | "pipelines"
  /** Named workers that number their events and say when they start and end. */
  | "workers"
  /** Processes with a resource, whose attributes, such as where the process ran, are params of the run. */
  | "resources"
  /** Records never say that a run has ended, so a silent run is not lost. */
  | "unended";

export interface ProtocolFacts {
  /** Stored with every row of the protocol. */
  readonly name: string;
  /** Its name for people. */
  readonly label: string;
  /** What its runs are made of, for the code that judges and shows them. */
  readonly traits: readonly RunTrait[];
  /** By the route's name in the contract. */
  readonly paths: Readonly<Record<string, IngestPath>>;
}
