// Where the records of a JSON request are, and the resource and scope of each: found in one pass over the text, with pauses,
// before anything is parsed. An outline consists of columns of numbers, so that for a million empty records it takes a few
// megabytes.

import { UInt32Column } from "#base/columns.ts";
import { JsonCursor, jsonKind } from "#base/json/cursor.ts";
import type { JsonLimits } from "#base/json/value.ts";
import { recordValuesMax } from "./message.ts";
import { recordsMax } from "./request-pieces.ts";
import { type Signal, signals } from "./schema.ts";

export interface Extent {
  readonly from: number;
  readonly to: number;
}

/** A resource or scope, and the URL of its schema; each null when it is not there, and empty when it was rejected. */
export interface HeadPlace {
  readonly own: Extent | null;
  readonly url: Extent | null;
}

/** Called for what cannot be a record, with the reason. */
export type OnReject = (at: Extent, reason: string, pointer: string) => void;

/** The member beside the list, by level: the request itself has none. */
const ownNames = ["", "resource", "scope"] as const;

export class JsonOutline {
  /** The number of records beyond those that a body may have, and where the first of them begins. */
  left = 0;
  leftAt = 0;
  private passed = 0;
  private readonly resources = new Heads();
  private readonly scopes = new Heads();
  private readonly resourceOf = new UInt32Column();
  private readonly from = new UInt32Column();
  private readonly to = new UInt32Column();
  private readonly scopeOf = new UInt32Column();
  private readonly cursor: JsonCursor;
  private readonly listNames: readonly string[];
  private readonly onReject: OnReject;

  constructor(signal: Signal, bytes: Uint8Array, limits: JsonLimits, onReject: OnReject) {
    this.cursor = new JsonCursor(bytes, 0, bytes.length, limits);
    this.listNames = signals[signal].fields;
    this.onReject = onReject;
  }

  get length(): number {
    return this.from.length;
  }

  recordAt(at: number): Extent {
    return { from: this.from.at(at), to: this.to.at(at) };
  }

  scopeAt(record: number): number {
    return this.scopeOf.at(record);
  }

  scopeHead(scope: number): HeadPlace {
    return this.scopes.at(scope);
  }

  resourceAt(scope: number): number {
    return this.resourceOf.at(scope);
  }

  resourceHead(resource: number): HeadPlace {
    return this.resources.at(resource);
  }

  /** Returns why the text is not a request; null when it is one. Throws JsonTrouble. */
  *scan(): Generator<void, { readonly reason: string; readonly at: number } | null> {
    const { cursor } = this;
    const name = this.listNames[0] as string;
    if (cursor.peek() !== jsonKind.object) {
      yield* cursor.skipInSteps();
      cursor.finish();
      return { reason: "is an object", at: 0 };
    }
    let noList = -1;
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      const isList = cursor.text() === name;
      const kind = cursor.peek();
      const { pos } = cursor;
      if (isList && kind === jsonKind.array) yield* this.list(0, 0);
      else {
        yield* cursor.skipInSteps();
        if (isList && kind !== jsonKind.null) noList = pos;
      }
    }
    cursor.finish();
    return noList < 0 ? null : { reason: `${name} is no list`, at: noList };
  }

  /** The items of a list: records on the last level, otherwise holders of another list. */
  private *list(level: number, parent: number): Generator<void, void> {
    const { cursor } = this;
    const isLast = level === this.listNames.length - 1;
    for (let more = cursor.openArray(); more; more = cursor.nextItem()) {
      cursor.peek();
      if (isLast) yield* this.record(parent);
      else yield* this.holder(level + 1, parent);
    }
  }

  private *record(scope: number): Generator<void, void> {
    const { cursor } = this;
    const { pos: from } = cursor;
    const isObject = cursor.peek() === jsonKind.object;
    const values = yield* cursor.skipInSteps();
    if (++this.passed % 256 === 0) yield;
    if (this.passed > recordsMax) {
      if (this.left++ === 0) this.leftAt = from;
    } else if (!isObject) this.onReject({ from, to: cursor.pos }, "is no object", "");
    else if (values > recordValuesMax)
      this.onReject({ from, to: cursor.pos }, `has more than ${recordValuesMax} values`, "");
    else {
      this.from.push(from);
      this.to.push(cursor.pos);
      this.scopeOf.push(scope);
    }
  }

  /** An object with a resource or a scope, and a list. */
  private *holder(level: number, parent: number): Generator<void, void> {
    const { cursor } = this;
    const { pos: from } = cursor;
    yield;
    if (cursor.peek() !== jsonKind.object) {
      yield* cursor.skipInSteps();
      this.onReject({ from, to: cursor.pos }, "is no object", "");
      return;
    }
    const heads = level === 1 ? this.resources : this.scopes;
    const head = heads.add();
    if (level === 2) this.resourceOf.push(parent);
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      const key = cursor.text();
      const kind = cursor.peek();
      const { pos } = cursor;
      if (key === this.listNames[level] && kind === jsonKind.array) {
        yield* this.list(level, head);
        continue;
      }
      const values = yield* cursor.skipInSteps();
      const at = { from: pos, to: cursor.pos };
      if (kind === jsonKind.null) continue;
      if (key === this.listNames[level]) this.onReject(at, "is no list", `/${key}`);
      else if (key === ownNames[level] && values > recordValuesMax) {
        this.onReject(at, `has more than ${recordValuesMax} values`, `/${key}`);
        heads.set(head, ownPlace, { from: pos, to: pos });
      } else if (key === ownNames[level]) heads.set(head, ownPlace, at);
      else if (key === "schemaUrl") heads.set(head, urlPlace, at);
    }
  }
}

const headWords = 4;
const ownPlace = 0;
const urlPlace = 2;

/** Four words per head. 0 means "not there", because no value begins at the first byte of a request. */
class Heads {
  private readonly words = new UInt32Column();

  add(): number {
    this.words.padTo(this.words.length + headWords, 0);
    return this.words.length / headWords - 1;
  }

  set(head: number, place: number, { from, to }: Extent): void {
    this.words.values[head * headWords + place] = from;
    this.words.values[head * headWords + place + 1] = to;
  }

  at(head: number): HeadPlace {
    return { own: this.extent(head, ownPlace), url: this.extent(head, urlPlace) };
  }

  private extent(head: number, place: number): Extent | null {
    const from = this.words.at(head * headWords + place);
    return from === 0 ? null : { from, to: this.words.at(head * headWords + place + 1) };
  }
}
