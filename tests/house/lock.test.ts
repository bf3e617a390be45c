import { expect, it } from "vitest";
import {
  findAddresses,
  findMissing,
  findUnchecked,
  type Lock,
  toCompleteLock,
  toPlatform,
} from "../../scripts/complete-lock.ts";
import { readText } from "./files.ts";

const lock = JSON.parse(readText("package-lock.json")) as Lock;

it("locks every platform's packages, so that npm ci passes on all of them", () => {
  expect([...findMissing(lock).keys()]).toEqual([]);
});

it("names no download address", () => {
  expect(findAddresses(lock)).toEqual([]);
});

it("lacks no checksum but of packages for other platforms, which the registry at hand did not have", () => {
  for (const path of findUnchecked(lock)) {
    const { optional, os, cpu } = lock.packages[path] ?? {};
    expect([path, optional, os !== undefined || cpu !== undefined]).toEqual([path, true, true]);
  }
});

it("reads the platform from a package's name", () => {
  expect(toPlatform("@a/cli-linux-arm64-musl")).toEqual({ os: ["linux"], cpu: ["arm64"], libc: ["musl"] });
  expect(toPlatform("@a/binding-linux-arm-gnueabihf")).toEqual({ os: ["linux"], cpu: ["arm"], libc: ["glibc"] });
  expect(toPlatform("@a/binding-win32-x64-msvc")).toEqual({ os: ["win32"], cpu: ["x64"] });
  expect(toPlatform("@a/binding-wasm32-wasi")).toEqual({ cpu: ["wasm32"] });
});

it("reads from the names what the registry says of the same packages", () => {
  const platform = Object.entries(lock.packages).filter(
    ([path, entry]) => entry.os && /(linux|darwin|win32)-/.test(path),
  );
  expect(platform.length).toBeGreaterThan(20);
  for (const [path, entry] of platform) {
    const read = toPlatform(path.slice("node_modules/".length));
    expect({ path, os: read.os, cpu: read.cpu }).toEqual({ path, os: entry.os, cpu: entry.cpu });
  }
});

it("adds what an optional dependency lacks and removes addresses", () => {
  const given: Lock = {
    lockfileVersion: 3,
    packages: {
      "node_modules/tool": {
        version: "1.0.0",
        dev: true,
        resolved: "x",
        optionalDependencies: { "@t/linux-x64": "1.0.0" },
      },
    },
  };
  expect(toCompleteLock(given).packages).toEqual({
    "node_modules/@t/linux-x64": { version: "1.0.0", dev: true, optional: true, os: ["linux"], cpu: ["x64"] },
    "node_modules/tool": { version: "1.0.0", dev: true, optionalDependencies: { "@t/linux-x64": "1.0.0" } },
  });
});
