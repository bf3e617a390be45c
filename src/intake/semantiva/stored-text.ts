// UTF-8 cannot hold half a surrogate pair. Such text is stored in its JSON-escaped form, and its row is flagged.

import { rowFlags } from "#model/row-flags.ts";

/** Collects the flag while the columns of one row are filled. */
export class StoredText {
  flags = 0;

  of(text: string): string {
    if (text.isWellFormed()) return text;
    this.flags |= rowFlags.escaped_text;
    return JSON.stringify(text).slice(1, -1);
  }
}
