// The registry: every protocol, once. A new one is a folder beside the others and a line here and in `facts.ts`.

import type { Input } from "#intake/input.ts";
import { cirron } from "./cirron/protocol.ts";
import type { HttpDoor, Protocol } from "./protocol.ts";
import { run } from "./run/protocol.ts";
import { semantiva } from "./semantiva/protocol.ts";
import { xtrack } from "./xtrack/protocol.ts";

export const protocols: readonly Protocol[] = [cirron, semantiva, xtrack, run];

/** The protocol of stored rows. */
export function protocolNamed(name: string): Protocol {
  const found = protocols.find(({ facts }) => facts.name === name);
  if (found === undefined) throw new Error(`No protocol is called ${JSON.stringify(name)}.`);
  return found;
}

export interface ProtocolDoor extends HttpDoor {
  readonly protocol: Protocol;
}

/** The doors of all protocols by route; of those that share one, the one that does not ask stands last. */
export function doorsByRoute(of: readonly Protocol[] = protocols): Map<HttpDoor["route"], ProtocolDoor[]> {
  const doors = of.flatMap((protocol) => protocol.doors.map((door) => ({ ...door, protocol })));
  doors.sort((a, b) => Number(a.claims === undefined) - Number(b.claims === undefined));
  return Map.groupBy(doors, ({ route }) => route);
}

/** Whose records inputs of a kind are, by name; null for changes, which are nobody's. */
export function protocolOfKind(kind: Input["kind"]): string | null {
  return protocols.find(({ inputs }) => inputs.includes(kind))?.facts.name ?? null;
}

export function protocolOfInput(input: Input): string | null {
  return input.kind === "refused" ? input.protocol : protocolOfKind(input.kind);
}
