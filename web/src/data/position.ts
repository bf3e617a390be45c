// Journal positions as they stand in `as_of` and event ids: `<collector>-<position>`.

/** Whether an event is newer than an answer. Positions of different collectors cannot be compared: taken as newer. */
export function isAfter(eventId: string, asOf: string): boolean {
  const [eventCollector, eventPosition] = split(eventId);
  const [collector, position] = split(asOf);
  if (eventCollector !== collector || eventPosition === null || position === null) return true;
  return eventPosition > position;
}

function split(text: string): [string, bigint | null] {
  const at = text.lastIndexOf("-");
  const digits = text.slice(at + 1);
  return [text.slice(0, Math.max(0, at)), /^\d+$/.test(digits) ? BigInt(digits) : null];
}
