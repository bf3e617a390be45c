// Every span id that was seen or named, as a node: which component it is in, and which tree.
// Children come before parents and some parents never come, so a tree is rooted at whatever its
// topmost known id is; its count of arrived spans moves up when that root turns out to have a parent.

import { IdMap, toIdWords } from "#intake/id-map.ts";

const arrivedFlag = 1;
const epochChildFlag = 2;
/** Somebody names it as a parent and it has not arrived: its text is in `names`. */
const awaitedFlag = 4;

export class SpanForest {
  private readonly nodes = new IdMap();
  /** The document's ids are 32 hex; the text is kept only for nodes that may become a root. */
  private readonly names = new Map<number, string>();
  private parents = new Uint32Array(1024);
  private leads = new Uint32Array(1024);
  private owners = new Uint32Array(1024);
  private flags = new Uint8Array(1024);
  private count = 0;

  get size(): number {
    return this.count;
  }

  find(bytes: Uint8Array): number {
    toIdWords(bytes);
    return this.nodes.get();
  }

  /** The node of the id that these bytes are, made when it is new. */
  node(bytes: Uint8Array, start: number, end: number, owner: number): number {
    toIdWords(bytes, start, end);
    const known = this.nodes.getOrSet(this.count);
    if (known >= 0) return known;
    if (this.count === this.parents.length) this.grow();
    const node = this.count++;
    this.parents[node] = node;
    this.owners[node] = owner;
    return node;
  }

  ownerOf(node: number): number {
    return this.owners[node] as number;
  }

  isArrived(node: number): boolean {
    return ((this.flags[node] as number) & arrivedFlag) !== 0;
  }

  hasEpochChild(node: number): boolean {
    return ((this.flags[node] as number) & epochChildFlag) !== 0;
  }

  leadsTo(node: number): number {
    return this.leads[node] as number;
  }

  nameOf(node: number): string {
    return this.names.get(node) ?? "";
  }

  /** A span arrived; its parent, when it has one, is named afterwards with `link`. Returns whether it was awaited. */
  arrive(node: number): boolean {
    const flags = this.flags[node] as number;
    const isAwaited = (flags & awaitedFlag) !== 0;
    this.flags[node] = (flags | arrivedFlag) & ~awaitedFlag;
    if (isAwaited) this.names.delete(node);
    const root = this.rootOf(node);
    this.leads[root] = (this.leads[root] as number) + 1;
    return isAwaited;
  }

  /** `child` has just arrived and names `parent`. Returns whether `parent` is to come and is awaited from now on. */
  link(child: number, parent: number, childIsEpoch: boolean): boolean {
    if (childIsEpoch) this.flags[parent] = (this.flags[parent] as number) | epochChildFlag;
    const root = this.rootOf(parent);
    // Two spans that name each other as parent would make a circle: the second link is left out.
    if (root !== child) {
      this.parents[child] = root;
      this.leads[root] = (this.leads[root] as number) + (this.leads[child] as number);
    }
    return ((this.flags[parent] as number) & (arrivedFlag | awaitedFlag)) === 0;
  }

  /** The text of a node that is to come. */
  await(node: number, id: string): void {
    this.flags[node] = (this.flags[node] as number) | awaitedFlag;
    this.names.set(node, id);
  }

  private rootOf(node: number): number {
    const { parents } = this;
    let root = node;
    while (parents[root] !== root) root = parents[root] as number;
    for (let at = node; at !== root; ) {
      const next = parents[at] as number;
      parents[at] = root;
      at = next;
    }
    return root;
  }

  private grow(): void {
    const size = this.parents.length * 2;
    this.parents = copyInto(new Uint32Array(size), this.parents);
    this.leads = copyInto(new Uint32Array(size), this.leads);
    this.owners = copyInto(new Uint32Array(size), this.owners);
    this.flags = copyInto(new Uint8Array(size), this.flags);
  }
}

function copyInto<A extends Uint32Array | Uint8Array>(target: A, source: A): A {
  target.set(source);
  return target;
}
