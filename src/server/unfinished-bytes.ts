// One limit for the bytes of all bodies and frames that are arriving or being worked on, over all connections. Each is
// bounded on its own, but ten thousand connections times the largest frame is more than any machine has.

/** Everybody may hold this much, so that those who hold much cannot shut out those who need little. */
const freeBytes = 64 * 1024;

export interface Share {
  /** Holds this many bytes from now on; false when there is no room, and the share is as it was. */
  hold(bytes: number): boolean;
  close(): void;
}

export class UnfinishedBytes {
  private readonly max: number;
  private held = 0;

  constructor(max: number) {
    this.max = max;
  }

  get bytes(): number {
    return this.held;
  }

  open(): Share {
    let own = 0;
    return {
      hold: (bytes) => {
        const all = this.held - own + bytes;
        if (bytes > own && bytes > freeBytes && all > this.max) return false;
        this.held = all;
        own = bytes;
        return true;
      },
      close: () => {
        this.held -= own;
        own = 0;
      },
    };
  }
}
