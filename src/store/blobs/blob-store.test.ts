import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type S3Server, startS3 } from "../../../tests/support/s3-server.ts";
import { makeDataDir } from "../../../tests/support/store-under-test.ts";
import { BlobOutage, type BlobStore } from "./blob-store.ts";
import { createFsBlobs } from "./fs-blobs.ts";
import { artifactKey, runPrefix, tensorKey, waitingKey } from "./object-key.ts";
import { createS3Blobs } from "./s3-blobs.ts";

interface UnderTest {
  readonly blobs: BlobStore;
  /** Whole objects that are really there, by key. */
  keys(): string[];
  /** Leftovers on the way in. */
  strays(): string[];
  close(): Promise<void>;
}

async function openFs(): Promise<UnderTest> {
  const folder = makeDataDir();
  const blobs = await createFsBlobs(join(folder, "blobs"));
  const files = (): string[] =>
    readdirSync(join(folder, "blobs"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, "blobs").length + 1))
      .sort();
  return {
    blobs,
    keys: () => files().filter((name) => !name.startsWith("incoming/")),
    strays: () => files().filter((name) => name.startsWith("incoming/")),
    close: async () => {
      await blobs.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openS3(): Promise<UnderTest & { readonly server: S3Server }> {
  // A folder that nobody has made yet, as with a server store there is none.
  const tmp = join(makeDataDir(), "tmp");
  const server = await startS3();
  const blobs = await createS3Blobs({
    bucket: "bucket",
    prefix: "team/",
    endpoint: server.url,
    region: "us-east-1",
    accessKey: "test",
    secretKey: "test",
    pathStyle: true,
    tmp,
    partBytes: 100_000,
  });
  return {
    blobs,
    server,
    keys: () => [...server.objects.keys()].map((key) => key.slice("bucket/team/".length)).sort(),
    strays: () => readdirSync(tmp),
    close: async () => {
      await blobs.close();
      await server.close();
      rmSync(tmp, { recursive: true, force: true });
    },
  };
}

async function* inChunks(bytes: Uint8Array, size = 7001): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const key = tensorKey({ workspace: "default", run: "run-1", span: "ab12", snapshot: "weights", ext: "safetensors" });

describe.each([
  { name: "a folder", open: openFs },
  { name: "an S3 bucket", open: openS3 },
])("blobs in $name", ({ open }) => {
  let under: UnderTest;
  let blobs: BlobStore;

  beforeEach(async () => {
    under = await open();
    ({ blobs } = under);
  });

  afterEach(() => under.close());

  it("lie where the document says [CT-38]", async () => {
    await blobs.put(key, inChunks(Buffer.from("x")));
    expect(under.keys()).toEqual(["traces/default/run-1/ab12/weights.safetensors"]);
  });

  it.each([0, 1, 99_999, 100_000, 350_001])("of %i bytes come back whole and in parts", async (size) => {
    const bytes = randomBytes(size);
    expect(await blobs.put(key, inChunks(bytes))).toEqual({ size, sha256: sha256(bytes), created: true });
    expect(await blobs.size(key)).toBe(size);
    expect((await collect(blobs.read(key))).equals(bytes)).toBe(true);
    const part = await collect(blobs.read(key, { start: Math.floor(size / 3), end: Math.floor(size / 2) }));
    expect(part.equals(bytes.subarray(Math.floor(size / 3), Math.floor(size / 2)))).toBe(true);
    expect(under.strays()).toEqual([]);
  });

  it.each([10, 250_000])("are written once: the first content stays (%i bytes)", async (size) => {
    const [first, second] = [randomBytes(size), randomBytes(size)];
    await blobs.put(key, inChunks(first));
    expect(await blobs.put(key, inChunks(second))).toEqual({ size, sha256: sha256(second), created: false });
    expect((await collect(blobs.read(key))).equals(first)).toBe(true);
  });

  it("leave nothing behind when their source fails or is too long", async () => {
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield randomBytes(10);
      throw new Error("the client went away");
    };
    await expect(blobs.put(key, failing())).rejects.toThrow("the client went away");
    await expect(blobs.put(key, inChunks(randomBytes(1000)), { bytesMax: 999 })).rejects.toMatchObject({
      kind: "too_large",
    });
    expect(under.keys()).toEqual([]);
    expect(under.strays()).toEqual([]);
    expect(await blobs.size(key)).toBeNull();
    await expect(collect(blobs.read(key))).rejects.toMatchObject({ kind: "missing" });
  });

  it("move once, to where their run is", async () => {
    const from = waitingKey({ workspace: "default", span: "ab12", snapshot: "weights", ext: "safetensors" });
    const bytes = randomBytes(5000);
    await blobs.put(from, inChunks(bytes));
    await blobs.move(from, key);
    await blobs.move(from, key);
    expect(under.keys()).toEqual([key]);
    expect((await collect(blobs.read(key))).equals(bytes)).toBe(true);
    await blobs.put(from, inChunks(randomBytes(10)));
    await blobs.move(from, key);
    expect((await collect(blobs.read(key))).equals(bytes)).toBe(true);
    expect(under.keys()).toEqual([key]);
    await expect(blobs.move("waiting/default/none/x", "traces/default/r/none/x")).rejects.toMatchObject({
      kind: "missing",
    });
  });

  it("are deleted with their run, and no other's", async () => {
    const spans = ["a", "b", "c", "d", "e"];
    for (const span of spans) {
      for (const run of ["run", "run-2"]) {
        await blobs.put(
          tensorKey({ workspace: "w", run, span, snapshot: "weights", ext: "st" }),
          inChunks(randomBytes(3)),
        );
      }
    }
    expect(await blobs.deletePrefix(runPrefix("w", "run"))).toBe(5);
    expect(await blobs.deletePrefix(runPrefix("w", "run"))).toBe(0);
    expect(under.keys()).toEqual(spans.map((span) => `traces/w/run-2/${span}/weights.st`));
  });

  it("keep hostile ids inside their folder, each apart from the others", async () => {
    const ids = [
      "..",
      ".",
      "",
      "../../etc/passwd",
      "a/b",
      "a%2Fb",
      "A\0B",
      "é",
      "x".repeat(5000),
      `${"x".repeat(4999)}y`,
      "con",
      ".hidden",
      "%",
    ];
    for (const id of ids) {
      await blobs.put(
        tensorKey({ workspace: id, run: id, span: id, snapshot: id, ext: id }),
        inChunks(Buffer.from(id)),
      );
      await blobs.put(artifactKey("w", "r", id), inChunks(Buffer.from(id)));
    }
    const keys = under.keys();
    expect(keys.length).toBe(ids.length * 2);
    for (const one of keys) {
      const segments = one.split("/");
      expect(segments.length).toBe(one.startsWith("traces/") ? 5 : 4);
      for (const segment of segments) expect(segment).toMatch(/^[A-Za-z0-9_%~-][A-Za-z0-9_.%~-]{0,254}$/);
    }
    for (const id of ids) expect((await collect(blobs.read(artifactKey("w", "r", id)))).toString()).toBe(id);
  });
});

describe("blobs in a folder", () => {
  it("refuse a key that leaves it", async () => {
    const under = await openFs();
    for (const bad of ["../x", "/etc/passwd", "a/../../x", "incoming/x", "a\0b"]) {
      await expect(under.blobs.put(bad, inChunks(randomBytes(1)))).rejects.toThrow(BlobOutage);
    }
    await under.close();
  });

  it("forget what a stopped process left half-written", async () => {
    const folder = makeDataDir();
    mkdirSync(join(folder, "incoming"));
    writeFileSync(join(folder, "incoming", "77-0"), "half");
    await createFsBlobs(folder);
    expect(existsSync(join(folder, "incoming", "77-0"))).toBe(false);
    rmSync(folder, { recursive: true, force: true });
  });

  it("are plain files that anyone may read with their own tools", async () => {
    const folder = makeDataDir();
    const blobs = await createFsBlobs(folder);
    await blobs.put(key, inChunks(Buffer.from("plain")));
    expect(readFileSync(join(folder, key), "utf8")).toBe("plain");
    rmSync(folder, { recursive: true, force: true });
  });
});

describe("blobs in an S3 bucket", () => {
  it("are sent again when the store stumbles", async () => {
    const under = await openS3();
    under.server.failNext(2);
    const bytes = randomBytes(250_000);
    expect(await under.blobs.put(key, inChunks(bytes))).toMatchObject({ created: true });
    expect((await collect(under.blobs.read(key))).equals(bytes)).toBe(true);
    await under.close();
  });

  it("tell a store that is down from one that refuses", async () => {
    const under = await openS3();
    under.server.failNext(1000);
    await expect(under.blobs.put(key, inChunks(randomBytes(1)))).rejects.toMatchObject({
      kind: "unavailable",
      retryable: true,
    });
    expect(under.blobs.isAway).toBe(true);
    under.server.failNext(0);
    expect(await under.blobs.size(key)).toBe(null);
    expect(under.blobs.isAway).toBe(false);
    await under.close();
  });

  it("are given up when the store takes connections and does not answer", async () => {
    const silent = createServer(() => undefined);
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const tmp = makeDataDir();
    const blobs = await createS3Blobs({
      bucket: "b",
      prefix: "",
      endpoint: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      region: "us-east-1",
      accessKey: "key",
      secretKey: "secret",
      pathStyle: true,
      tmp,
      silenceMs: 200,
    });
    await expect(blobs.put(key, inChunks(randomBytes(1000)))).rejects.toMatchObject({ kind: "unavailable" });
    expect(blobs.isAway).toBe(true);
    await blobs.close();
    silent.closeAllConnections();
    silent.close();
    rmSync(tmp, { recursive: true });
  });
});
