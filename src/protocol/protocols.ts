// The registry: every protocol, once. A new one is a folder beside the others and a line here and in `facts.ts`.

import { changeInputs } from "#intake/changes.ts";
import type { Input } from "#intake/input.ts";
import type { InputKind } from "#intake/input-kind.ts";
import { isRefused, refusedInputs } from "#intake/refused.ts";
import { cirron } from "./cirron/protocol.ts";
import type { RecordProtocolName } from "./facts.ts";
import { otlp } from "./otlp/protocol.ts";
import type { HttpDoor, Protocol } from "./protocol.ts";
import { run } from "./run/protocol.ts";
import { semantiva } from "./semantiva/protocol.ts";
import { xtrack } from "./xtrack/protocol.ts";

/** By name, so that the type checker finds one of `facts.ts` that is missing. */
const registry: Readonly<Record<RecordProtocolName, Protocol>> = { cirron, semantiva, xtrack, otlp, run };
export const protocols: readonly Protocol[] = Object.values(registry);

/** The protocol of stored rows. */
export function protocolNamed(name: string): Protocol {
  const found = protocols.find(({ facts }) => facts.name === name);
  if (found === undefined) throw new Error(`No protocol is called ${JSON.stringify(name)}.`);
  return found;
}

export interface ProtocolDoor extends HttpDoor {
  readonly protocol: Protocol;
}

/** The doors of all protocols by route; if several share one, the door without `claims` is last. */
export function doorsByRoute(of: readonly Protocol[] = protocols): Map<HttpDoor["route"], ProtocolDoor[]> {
  const doors = of.flatMap((protocol) => protocol.doors.map((door) => ({ ...door, protocol })));
  doors.sort((a, b) => Number(a.claims === undefined) - Number(b.claims === undefined));
  return Map.groupBy(doors, ({ route }) => route);
}

/** Every kind of input that the journal may hold: those of the protocols, refusals and changes. */
export const inputKinds: readonly InputKind[] = [
  ...protocols.flatMap(({ inputs }) => inputs),
  refusedInputs,
  changeInputs,
];

/** The name of the protocol whose records inputs of a kind are; null for changes, which belong to none. */
export function protocolOfKind(kind: string): string | null {
  return protocols.find(({ inputs }) => inputs.some((own) => own.kind === kind))?.facts.name ?? null;
}

export function protocolOfInput(input: Input): string | null {
  return isRefused(input) ? input.protocol : protocolOfKind(input.kind);
}
