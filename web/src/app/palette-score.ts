// How well an entry of the palette fits what was typed: by its words, as people remember them. Letters that only happen to
// occur in that order are no match: Enter takes the first entry, and it has to be the one that was meant.

/** 0 to 1; 0 leaves the entry out. Every word typed must be found. */
export function scoreEntry(entry: string, typed: string): number {
  const words = entry.toLowerCase().split(/[\s/._-]+/);
  const whole = entry.toLowerCase();
  const scores = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => {
      if (words.includes(word) || whole.split(/\s+/).includes(word)) return 1;
      if (words.some((each) => each.startsWith(word))) return 0.8;
      return whole.includes(word) ? 0.5 : 0;
    });
  return scores.reduce<number>((product, score) => product * score, 1);
}
