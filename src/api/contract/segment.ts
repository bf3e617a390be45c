// Names as segments of a path. Whoever resolves an address as browsers do reads `.` and `..`, encoded or not, as steps to
// other folders. Such a name, and one that looks like it was written this way, gets a `~` in front.

/** Percent-encoded. */
export function toSegment(name: string): string {
  return encodeURIComponent(keepDots(name));
}

/** For whoever percent-encodes it next. */
export function keepDots(name: string): string {
  return /^~*\.{1,2}$/.test(name) ? `~${name}` : name;
}

/** Of a segment that is percent-decoded already. A bare `..` from someone who does not resolve is that name. */
export function fromSegment(text: string): string {
  return /^~+\.{1,2}$/.test(text) ? text.slice(1) : text;
}
