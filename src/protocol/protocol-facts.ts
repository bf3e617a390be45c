// The light part of a protocol: what every room may know of it.

export interface IngestPath {
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly scope: "ingest";
  readonly summary: string;
  /** The content types that clients name; others are taken too where the body itself says what it is. */
  readonly media: readonly string[];
}

export interface ProtocolFacts {
  /** Stored with every row of the protocol. */
  readonly name: string;
  /** What people call it. */
  readonly label: string;
  /** By the route's name in the contract. */
  readonly paths: Readonly<Record<string, IngestPath>>;
}
