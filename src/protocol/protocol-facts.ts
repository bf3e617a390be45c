// The light part of a protocol: what every room may know of it.

export interface IngestPath {
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly scope: "ingest";
  readonly summary: string;
  /** The content types that clients name; others are taken too where the body itself says what it is. */
  readonly media: readonly string[];
}

export type RunTrait =
  /** Sessions of processes, each with a rank; a session's own span is its end, and its numeric marks are points. */
  | "sessions"
  /** Pipelines of nodes, complete or not, alone or in a launch. */
  | "pipelines"
  /** Named workers that number their events and say when they start and end. */
  | "workers"
  /** Processes with a resource: what it says of where they ran is among the params of the run. */
  | "resources"
  /** Records that never say that a run has ended: one that is silent is not lost. */
  | "unended";

export interface ProtocolFacts {
  /** Stored with every row of the protocol. */
  readonly name: string;
  /** What people call it. */
  readonly label: string;
  /** What its runs are made of, for those who judge and show them. */
  readonly traits: readonly RunTrait[];
  /** By the route's name in the contract. */
  readonly paths: Readonly<Record<string, IngestPath>>;
}
