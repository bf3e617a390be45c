// The pipeline's work: words of a text, counted and ranked.

export interface CountedWord {
  readonly word: string;
  readonly count: number;
}

export function splitSentences(text: string): string[] {
  return text.split(/[.!?]+\s/).filter((sentence) => sentence.trim() !== "");
}

export function listWords(text: string, lengthMin: number): string[] {
  return (
    text
      .toLowerCase()
      .match(/\p{L}+/gu)
      ?.filter((word) => word.length >= lengthMin) ?? []
  );
}

export function countWords(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Most frequent first; the same count is sorted by the alphabet. */
export function rankWords(counts: ReadonlyMap<string, number>, top: number): CountedWord[] {
  const ranked = [...counts].map(([word, count]) => ({ word, count }));
  ranked.sort((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1));
  return ranked.slice(0, top);
}
