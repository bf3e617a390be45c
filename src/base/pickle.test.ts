import { describe, expect, test } from "vitest";
import { PickleRefused, readPickle } from "./pickle.ts";

/** As Python's pickle.dumps wrote them, in hex. */
const value = { a: [1, -2, 70000, 5_000_000_000, 1.5], b: [true, false, null], name: "süß", nested: { x: [] } };
const protocol2 =
  "80027d7100285801000000617101" +
  "5d710228" +
  "4b01" +
  "4afeffffff" +
  "4a70110100" +
  "8a0500f2052a01" +
  "473ff8000000000000" +
  "65" +
  "5801000000627103" +
  "8889" +
  "4e" +
  "87" +
  "7104" +
  "58040000006e616d657105" +
  "580500000073c3bcc39f7106" +
  "58060000006e65737465647107" +
  "7d7108" +
  "5801000000787109" +
  "5d710a" +
  "73" +
  "752e";

function toPlain(item: unknown): unknown {
  if (item instanceof Map) return Object.fromEntries([...item].map(([key, one]) => [String(key), toPlain(one)]));
  return Array.isArray(item) ? item.map(toPlain) : item;
}
const bytes = (hex: string) => Buffer.from(hex, "hex");
const ascii = (text: string) => Buffer.from(text, "latin1");

describe("a pickle of plain data", () => {
  test("is read", () => {
    expect(toPlain(readPickle(bytes(protocol2)))).toEqual(value);
  });

  test("may share its parts, and may be framed", () => {
    // pickle.dumps([x, x]) with x = ["y"], protocol 4
    const shared = readPickle(bytes("80049510000000000000005d9428" + "5d948c01799461" + "6801" + "652e"));
    expect(shared).toEqual([["y"], ["y"]]);
  });

  test("may name the type of a list or dict, which is left out", () => {
    const tagged = ascii("\x80\x02ctorch.jit._pickle\nbuild_intlist\n](K\x01K\x02e\x85R.");
    expect(readPickle(tagged)).toEqual([1, 2]);
  });
});

describe("a pickle that is a program", () => {
  test.each([
    ["imports", "cos\nsystem\n(X\x02\x00\x00\x00idtR."],
    ["imports by name from the stack", "\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R."],
    ["builds an object", "\x80\x02ccollections\nOrderedDict\n)R."],
    ["makes an instance", "(i__main__\nX\n."],
    ["sets state", "}}b."],
    ["calls a new object", "\x80\x02c__builtin__\nobject\n)\x81."],
    ["loads by a persistent id", "X\x01\x00\x00\x00aQ."],
    ["evaluates through a known name", "ctorch.jit._pickle\nbuild_tensor_from_id\n(K\x00tR."],
  ])("that %s is refused", (_, text) => {
    expect(() => readPickle(ascii(text))).toThrow(PickleRefused);
  });

  test("and so is one that is cut off anywhere, or claims to be longer than it is", () => {
    const whole = bytes(protocol2);
    for (let end = 0; end < whole.length; end++)
      expect(() => readPickle(whole.subarray(0, end))).toThrow(PickleRefused);
    expect(() => readPickle(bytes("8dffffffffffffffff2e"))).toThrow(PickleRefused);
    expect(() => readPickle(bytes("58ffffffff2e"))).toThrow(PickleRefused);
  });
});

test("reads whole numbers of any length in time", () => {
  const bytesOfNumber = 400_000;
  const long4 = Buffer.alloc(5 + bytesOfNumber + 1, 0xff);
  long4[0] = 139;
  long4.writeUInt32LE(bytesOfNumber, 1);
  long4[4 + bytesOfNumber] = 0x7f;
  long4[5 + bytesOfNumber] = 0x2e;
  expect(readPickle(long4)).toBe(2n ** BigInt(8 * bytesOfNumber - 1) - 1n);
  expect(readPickle(ascii("\x8a\x00."))).toBe(0);
  expect(readPickle(ascii("\x8a\x02\x00\x80."))).toBe(-32768);
});
