// What every room may know about the protocols: their names, their labels, and where their clients post. Nothing here
// imports a decoder, so that the browser can use it too; what a protocol does is in `protocols.ts`.

import { cirronFacts } from "./cirron/facts.ts";
import { otlpFacts } from "./otlp/facts.ts";
import type { ProtocolFacts, RunTrait } from "./protocol-facts.ts";
import { runFacts } from "./run/facts.ts";
import { semantivaFacts } from "./semantiva/facts.ts";
import { xtrackFacts } from "./xtrack/facts.ts";

/** The protocols that clients speak. `run` is our own: what `tributary run` reports of its program. */
const spoken = [cirronFacts, semantivaFacts, xtrackFacts, otlpFacts] as const satisfies readonly ProtocolFacts[];

export type ProtocolName = (typeof spoken)[number]["name"];
export const protocolNames: readonly ProtocolName[] = spoken.map(({ name }) => name);
/** The protocols of stored rows, which include our own. */
export type RecordProtocolName = ProtocolName | typeof runFacts.name;
export const recordProtocolNames: readonly RecordProtocolName[] = [...protocolNames, runFacts.name];

export const protocolLabels: readonly string[] = spoken.map(({ label }) => label);

/** The protocols whose runs have this trait. */
export function protocolsWith(trait: RunTrait): readonly ProtocolName[] {
  return spoken.filter(({ traits }) => (traits as readonly RunTrait[]).includes(trait)).map(({ name }) => name);
}

export function hasTrait(protocol: string, trait: RunTrait): boolean {
  return protocolsWith(trait).some((name) => name === protocol);
}

export const ingestPaths = {
  ...cirronFacts.paths,
  ...semantivaFacts.paths,
  ...xtrackFacts.paths,
  ...otlpFacts.paths,
  ...runFacts.paths,
} as const;
export type IngestRoute = keyof typeof ingestPaths;

// Programs also print XTrack frames and Cirron sentinel lines. `tributary run` takes them out of the output and sends them to
// these routes.
export const printedRoutes = { frames: "xtrack", batch: "cirronRun", blob: "blobRun" } as const satisfies Record<
  string,
  IngestRoute
>;
