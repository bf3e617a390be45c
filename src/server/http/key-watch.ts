// Ends what a key has opened once the key is revoked: live streams, XTrack connections, WebSockets. A key may be
// revoked here or by another collector, so the list itself is checked, as long as there is something to end.

import type { KeyStore } from "./ports.ts";

const lookMs = 500;

export class KeyWatch {
  private readonly keys: Pick<KeyStore, "list">;
  private readonly watched = new Map<string, Set<() => void>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(keys: Pick<KeyStore, "list">) {
    this.keys = keys;
  }

  /** `source` is a caller's; a caller without a key is never told. Returns what ends the watch. */
  watch(source: string, onGone: () => void): () => void {
    if (!source.startsWith(keyPrefix)) return () => {};
    const id = source.slice(keyPrefix.length);
    const watchers = this.watched.get(id) ?? new Set();
    this.watched.set(id, watchers.add(onGone));
    this.timer ??= setInterval(() => this.look(), lookMs).unref();
    return () => {
      watchers.delete(onGone);
      if (watchers.size === 0) this.watched.delete(id);
    };
  }

  close(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    if (this.watched.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    const known = new Set(this.keys.list().map(({ id }) => id));
    for (const [id, watchers] of this.watched) {
      if (known.has(id)) continue;
      this.watched.delete(id);
      for (const onGone of watchers) onGone();
    }
  }
}

const keyPrefix = "key:";
