// How far the journals of other collectors are known here: up to where the store was read, and from there by news. Each
// piece of news names the range of the sender's journal that it covers, so nothing is read twice and gaps are noticed.

interface Journal {
  /** Everything stored up to here was read. */
  read: number;
  /** The range of the latest news without a gap in it. */
  after: number;
  to: number;
}

export class HeardJournals {
  private readonly journals = new Map<string, Journal>();

  /** News of everything after one position and up to another was taken in. False if news before it is missing. */
  hear(collector: string, after: number, to: number): boolean {
    const journal = this.of(collector);
    const known = upTo(journal);
    journal.read = known;
    if (after > journal.to) journal.after = after;
    journal.to = Math.max(journal.to, to);
    return after <= known;
  }

  read(collector: string, position: number): void {
    const journal = this.of(collector);
    journal.read = Math.max(journal.read, position);
  }

  /** By collector, the last position up to which nothing is missing. */
  known(): Map<string, number> {
    return new Map(Array.from(this.journals, ([collector, journal]) => [collector, upTo(journal)]));
  }

  private of(collector: string): Journal {
    const journal = this.journals.get(collector) ?? { read: -1, after: Number.POSITIVE_INFINITY, to: -1 };
    this.journals.set(collector, journal);
    return journal;
  }
}

function upTo({ read, after, to }: Journal): number {
  return read >= after ? Math.max(read, to) : read;
}
