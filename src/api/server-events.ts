// Reads server-sent events from an answer, as the contract names them.

import { parsePositions } from "#model/positions.ts";
import { type LiveEvent, liveEvents } from "./contract/live.ts";

/** Whether a stream that has got to `told` has covered everything up to `end`. A collector that is gone sends no more. */
export function isToldUpTo(told: string, end: string): boolean {
  const known = parsePositions(told);
  return [...parsePositions(end)].every(([collector, position]) => (known.get(collector) ?? position) >= position);
}

export async function* readEvents(answer: {
  readonly body: AsyncIterable<Uint8Array> | null;
}): AsyncGenerator<LiveEvent> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of answer.body ?? []) {
    held += decoder.decode(chunk, { stream: true });
    // An event ends with an empty line; what follows the last one is not whole yet.
    const blocks = held.split(/\r?\n\r?\n/);
    held = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

export function parseEvent(block: string): LiveEvent | undefined {
  let name = "message";
  let id = "";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field, value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (field === "event") name = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  if (!Object.hasOwn(liveEvents, name) || data.length === 0) return undefined;
  return { name, id, data: JSON.parse(data.join("\n")) } as LiveEvent;
}
