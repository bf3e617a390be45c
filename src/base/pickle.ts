// Python pickles that hold plain data: numbers, texts, lists, tuples, dicts. A pickle is a program, and none of it is run:
// opcodes that import, call or build are refused. The exceptions are a few functions of torch that only tag a list or dict
// with its type; they are recognised by name, and their argument is taken as it is.

export class PickleRefused extends Error {
  override readonly name = "PickleRefused";
}

export type PickleValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | PickleValue[]
  | ReadonlyMap<PickleValue, PickleValue>;

/** Functions of torch that return their first argument. */
const taggers: ReadonlySet<string> = new Set(
  ["restore_type_tag", "build_intlist", "build_doublelist", "build_boollist"].map(
    (name) => `torch.jit._pickle ${name}`,
  ),
);

class Tagger {}
class Mark {}
type Item = PickleValue | Tagger | Mark;

const valuesMax = 5_000_000;
const memoMax = 5_000_000;

/** Throws a PickleRefused for everything that is not plain data. */
export function readPickle(bytes: Uint8Array): PickleValue {
  return new PickleReader(bytes).read();
}

class PickleReader {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private at = 0;
  private made = 0;
  private readonly stack: Item[] = [];
  private readonly memo = new Map<number, Item>();

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  read(): PickleValue {
    for (;;) {
      const code = this.take(1)[0] as number;
      if (code === 0x2e) return toValue(this.pop());
      if (++this.made > valuesMax) throw new PickleRefused("The pickle is too large.");
      const op = opcodes[code];
      if (op === undefined)
        throw new PickleRefused(`The pickle has the opcode 0x${code.toString(16)}, which is not plain data.`);
      op(this);
    }
  }

  push(item: Item): void {
    this.stack.push(item);
  }

  pop(): Item {
    const item = this.stack.pop();
    if (item === undefined) throw new PickleRefused("The pickle is damaged.");
    return item;
  }

  popValue(): PickleValue {
    return toValue(this.pop());
  }

  /** Everything pushed since the last mark. */
  popMarked(): PickleValue[] {
    const from = this.stack.findLastIndex((item) => item instanceof Mark);
    if (from < 0) throw new PickleRefused("The pickle is damaged.");
    const items = this.stack.splice(from).slice(1);
    return items.map(toValue);
  }

  top(): Item {
    const item = this.stack.at(-1);
    if (item === undefined) throw new PickleRefused("The pickle is damaged.");
    return item;
  }

  remember(key: number): void {
    if (this.memo.size > memoMax) throw new PickleRefused("The pickle is too large.");
    this.memo.set(key, this.top());
  }

  rememberNext(): void {
    this.remember(this.memo.size);
  }

  recall(key: number): void {
    const item = this.memo.get(key);
    if (item === undefined) throw new PickleRefused("The pickle is damaged.");
    this.push(item);
  }

  take(length: number): Uint8Array {
    if (length > this.bytes.length - this.at) throw new PickleRefused("The pickle ends too early.");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  uint(size: 1 | 2 | 4): number {
    this.take(size);
    const at = this.at - size;
    return size === 1
      ? this.view.getUint8(at)
      : size === 2
        ? this.view.getUint16(at, true)
        : this.view.getUint32(at, true);
  }

  int32(): number {
    this.take(4);
    return this.view.getInt32(this.at - 4, true);
  }

  length64(): number {
    this.take(8);
    const length = this.view.getBigUint64(this.at - 8, true);
    if (length > BigInt(this.bytes.length)) throw new PickleRefused("The pickle ends too early.");
    return Number(length);
  }

  float(): number {
    this.take(8);
    return this.view.getFloat64(this.at - 8, false);
  }

  text(length: number): string {
    return new TextDecoder().decode(this.take(length));
  }

  /** Little-endian, two's complement. */
  long(length: number): number | bigint {
    const hex = Buffer.from(this.take(length)).reverse().toString("hex");
    const value = BigInt.asIntN(8 * length, BigInt(`0x0${hex}`));
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }

  line(): string {
    const end = this.bytes.indexOf(0x0a, this.at);
    if (end < 0) throw new PickleRefused("The pickle ends too early.");
    const text = this.text(end - this.at);
    this.at++;
    return text;
  }

  /** Pushes a function that is known; refuses all others. */
  name(module: string, name: string): void {
    if (!taggers.has(`${module} ${name}`)) throw new PickleRefused(`The pickle wants to load ${module}.${name}.`);
    this.push(new Tagger());
  }
}

function toValue(item: Item): PickleValue {
  if (item instanceof Tagger || item instanceof Mark) throw new PickleRefused("The pickle is damaged.");
  return item;
}

function toList(item: Item): PickleValue[] {
  if (!Array.isArray(item)) throw new PickleRefused("The pickle is damaged.");
  return item;
}

function setItems(item: Item, pairs: readonly PickleValue[]): void {
  if (!(item instanceof Map) || pairs.length % 2 !== 0) throw new PickleRefused("The pickle is damaged.");
  for (let at = 0; at < pairs.length; at += 2) item.set(pairs[at] as PickleValue, pairs[at + 1] as PickleValue);
}

type Opcode = (reader: PickleReader) => void;

const opcodes: Readonly<Record<number, Opcode>> = {
  128: (reader) => void reader.take(1), // PROTO
  149: (reader) => void reader.take(8), // FRAME
  40: (reader) => reader.push(new Mark()), // MARK
  48: (reader) => void reader.pop(), // POP
  78: (reader) => reader.push(null), // NONE
  136: (reader) => reader.push(true), // NEWTRUE
  137: (reader) => reader.push(false), // NEWFALSE
  74: (reader) => reader.push(reader.int32()), // BININT
  75: (reader) => reader.push(reader.uint(1)), // BININT1
  77: (reader) => reader.push(reader.uint(2)), // BININT2
  138: (reader) => reader.push(reader.long(reader.uint(1))), // LONG1
  139: (reader) => reader.push(reader.long(reader.uint(4))), // LONG4
  71: (reader) => reader.push(reader.float()), // BINFLOAT
  88: (reader) => reader.push(reader.text(reader.uint(4))), // BINUNICODE
  140: (reader) => reader.push(reader.text(reader.uint(1))), // SHORT_BINUNICODE
  141: (reader) => reader.push(reader.text(reader.length64())), // BINUNICODE8
  85: (reader) => reader.push(reader.text(reader.uint(1))), // SHORT_BINSTRING
  84: (reader) => reader.push(reader.text(reader.uint(4))), // BINSTRING
  67: (reader) => reader.push(reader.take(reader.uint(1))), // SHORT_BINBYTES
  66: (reader) => reader.push(reader.take(reader.uint(4))), // BINBYTES
  93: (reader) => reader.push([]), // EMPTY_LIST
  125: (reader) => reader.push(new Map()), // EMPTY_DICT
  41: (reader) => reader.push([]), // EMPTY_TUPLE
  116: (reader) => reader.push(reader.popMarked()), // TUPLE
  133: (reader) => reader.push([reader.popValue()]), // TUPLE1
  134: (reader) => reader.push([reader.popValue(), reader.popValue()].reverse()), // TUPLE2
  135: (reader) => reader.push([reader.popValue(), reader.popValue(), reader.popValue()].reverse()), // TUPLE3
  108: (reader) => reader.push(reader.popMarked()), // LIST
  97: (reader) => {
    const value = reader.popValue();
    toList(reader.top()).push(value); // APPEND
  },
  101: (reader) => {
    const values = reader.popMarked();
    const list = toList(reader.top());
    for (const value of values) list.push(value); // APPENDS
  },
  115: (reader) => {
    const value = reader.popValue();
    const key = reader.popValue();
    setItems(reader.top(), [key, value]); // SETITEM
  },
  117: (reader) => {
    const pairs = reader.popMarked();
    setItems(reader.top(), pairs); // SETITEMS
  },
  148: (reader) => reader.rememberNext(), // MEMOIZE
  113: (reader) => reader.remember(reader.uint(1)), // BINPUT
  114: (reader) => reader.remember(reader.uint(4)), // LONG_BINPUT
  104: (reader) => reader.recall(reader.uint(1)), // BINGET
  106: (reader) => reader.recall(reader.uint(4)), // LONG_BINGET
  99: (reader) => {
    const module = reader.line();
    reader.name(module, reader.line()); // GLOBAL
  },
  147: (reader) => {
    const name = String(reader.popValue());
    reader.name(String(reader.popValue()), name); // STACK_GLOBAL
  },
  82: (reader) => {
    const [first] = toList(reader.pop());
    if (!(reader.pop() instanceof Tagger) || first === undefined) throw new PickleRefused("The pickle is damaged.");
    reader.push(first); // REDUCE, of a function that returns its first argument
  },
};
