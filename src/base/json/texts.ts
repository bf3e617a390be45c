// A long text built from parts stays in pieces until it is sent: joining them would copy megabytes in one go.

import { inPieces } from "./format.ts";

/** The pieces of one text, in order. */
export type Texts = readonly string[];

/** Shorter pieces are joined. */
const longPieceChars = 64 * 1024;

export class TextGatherer {
  private readonly texts: string[] = [];
  private short: string[] = [];
  private shortChars = 0;

  add(text: string | Texts): void {
    if (typeof text !== "string") for (const piece of text) this.add(piece);
    else if (text.length > longPieceChars) {
      this.flush();
      this.texts.push(text);
    } else {
      this.short.push(text);
      this.shortChars += text.length;
      if (this.shortChars > longPieceChars) this.flush();
    }
  }

  finish(): Texts {
    this.flush();
    return this.texts;
  }

  private flush(): void {
    if (this.short.length === 0) return;
    this.texts.push(this.short.join(""));
    this.short = [];
    this.shortChars = 0;
  }
}

/** The same text in short pieces. */
export function* inShortPieces(texts: Texts): Generator<string> {
  for (const text of texts) yield* inPieces(text);
}

export function lengthOf(texts: Texts): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** The JSON string of a text of any length, with pauses. */
export function* formatLongText(text: string): Generator<void, Texts> {
  const texts = new TextGatherer();
  texts.add('"');
  for (const piece of inPieces(text)) {
    texts.add(JSON.stringify(piece).slice(1, -1));
    if (piece.length < text.length) yield;
  }
  texts.add('"');
  return texts.finish();
}

/** Whether the text contains a word, with a pause before each long piece. The word must not extend over two pieces. */
export function* hasWord(texts: Texts, word: string): Generator<void, boolean> {
  for (const text of texts) {
    if (text.length > longPieceChars) yield;
    if (text.includes(word)) return true;
  }
  return false;
}
