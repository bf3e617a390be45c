// Finds the first row of a lane that is free at a time. Most lanes have few rows, which are looked at one by one. For a lane
// with thousands of spans beside each other the earliest ends are kept as a tree, so that each span costs a dozen steps.

const fewRows = 32;

export class FreeRows {
  private readonly rowsMax: number;
  private readonly freeAt: number[] = [];
  /** Each node has the earlier of the two below it; the rows are the last half. Null while there are few. */
  private tree: Float64Array | null = null;

  /** `rowsMax` is a power of two. */
  constructor(rowsMax: number) {
    this.rowsMax = rowsMax;
  }

  /** Takes the first row that is free at `begins` until `ends`; `rowsMax` when there is none. */
  take(begins: number, ends: number): number {
    if (this.tree === null) {
      const { freeAt } = this;
      let row = 0;
      while (row < freeAt.length && (freeAt[row] as number) > begins) row++;
      freeAt[row] = ends;
      if (row >= fewRows) this.tree = toTree(freeAt, this.rowsMax);
      return row;
    }
    const { tree, rowsMax } = this;
    if ((tree[1] as number) > begins) return rowsMax;
    let node = 1;
    while (node < rowsMax) node = (tree[node * 2] as number) <= begins ? node * 2 : node * 2 + 1;
    const row = node - rowsMax;
    tree[node] = ends;
    for (node >>= 1; node > 0; node >>= 1)
      tree[node] = Math.min(tree[node * 2] as number, tree[node * 2 + 1] as number);
    return row;
  }
}

function toTree(freeAt: readonly number[], rowsMax: number): Float64Array {
  const tree = new Float64Array(rowsMax * 2).fill(Number.NEGATIVE_INFINITY);
  tree.set(freeAt, rowsMax);
  for (let node = rowsMax - 1; node > 0; node--)
    tree[node] = Math.min(tree[node * 2] as number, tree[node * 2 + 1] as number);
  return tree;
}
