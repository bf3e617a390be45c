// Parents that spans name and that have not arrived, each with the number of arrived spans that lead up to it. Children come
// before their parents, and some parents never come. When one arrives, what led to it leads on to its own parent.

import type { UnresolvedParent } from "./component.ts";

export class Awaited implements UnresolvedParent {
  readonly id: string;
  readonly number: number;
  hasEpochChild: boolean;
  leads: number;
  /** The generation of rows in which its id is known. */
  generation: number;
  isResolved = false;
  /** Once it has arrived: where its leads went; null when it has no parent. */
  into: Awaited | null = null;

  constructor(number: number, generation: number, parent: UnresolvedParent) {
    this.number = number;
    this.generation = generation;
    this.id = parent.id;
    this.hasEpochChild = parent.hasEpochChild;
    this.leads = parent.leads;
  }
}

/** Rows refer to what they lead to by a number; 0 stands for nothing. */
export class AwaitedParents {
  private readonly byNumber = new Map<number, Awaited>();
  private resolvedNumbers: { readonly number: number; readonly generation: number }[] = [];
  private next = 1;

  add(generation: number, parent: UnresolvedParent): Awaited {
    const awaited = new Awaited(this.next++, generation, parent);
    this.byNumber.set(awaited.number, awaited);
    return awaited;
  }

  /** What a row with this number leads to now; undefined when everything up to the top has arrived. */
  rootOf(number: number): Awaited | undefined {
    if (number === 0) return undefined;
    let awaited: Awaited | null | undefined = this.byNumber.get(number);
    while (awaited?.isResolved === true) awaited = awaited.into;
    return awaited ?? undefined;
  }

  /** It arrived; `into` is what its parent leads to. */
  resolve(awaited: Awaited, into: Awaited | undefined, generation: number): void {
    awaited.isResolved = true;
    // Two spans that name each other as parent would make a circle, so the second link is left out.
    if (into !== undefined && into !== awaited) {
      awaited.into = into;
      into.leads += awaited.leads;
    }
    this.resolvedNumbers.push({ number: awaited.number, generation });
  }

  /** Its component is no longer in memory. */
  drop(awaited: Awaited): void {
    this.byNumber.delete(awaited.number);
  }

  /** No row of this generation or an older one is in memory, so nothing refers to parents that arrived by then. */
  forgetResolved(generation: number): void {
    const gone = this.resolvedNumbers.filter((one) => one.generation <= generation);
    if (gone.length === 0) return;
    for (const { number } of gone) this.byNumber.delete(number);
    this.resolvedNumbers = this.resolvedNumbers.filter((one) => one.generation > generation);
  }
}
