// Completes package-lock.json for every platform, and checks that it is complete.
//
// A registry may serve the platform packages of one platform only. npm then leaves the others out of the lock, and
// `npm ci` refuses it with "Missing: …". An entry needs no checksum to be accepted, only its version and the platform
// it is for, and the platform can be read from the package's name. Its checksum is asked for whenever the lock is
// completed, and stays missing only as long as no registry that was asked has the package. Download addresses are left
// out too: they would bind everyone to the registry of the machine that wrote the lock.
//
//   npm run lock          adds what is missing, and the checksums that the registry knows
//   npm run check:lock    exits 1 when something is missing

import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";

export interface LockEntry {
  version?: string;
  integrity?: string;
  resolved?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

export interface Lock {
  lockfileVersion: number;
  packages: Record<string, LockEntry>;
}

const osNames = new Set(["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos"]);
const cpuNames = new Set(["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"]);

/** Reads the platform from the words of a name such as `@scope/binding-linux-arm64-musl`. */
export function toPlatform(name: string): Pick<LockEntry, "os" | "cpu" | "libc"> {
  const words = name.slice(name.indexOf("/") + 1).split("-");
  const os = words.filter((word) => osNames.has(word) || word === "win32");
  const cpu = words.filter((word) => cpuNames.has(word));
  const libc = words.flatMap((word) => (/^gnu/.test(word) ? ["glibc"] : /^musl/.test(word) ? ["musl"] : []));
  return {
    ...(cpu.length > 0 ? { cpu } : {}),
    ...(libc.length > 0 ? { libc } : {}),
    ...(os.length > 0 ? { os } : {}),
  };
}

/** Looks a dependency up as Node would: in the package's own folder, then in each folder above it. */
function isLocked(lock: Lock, from: string, name: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("node_modules/") - 1))) {
    if (lock.packages[`${folder === "" ? "" : `${folder}/`}node_modules/${name}`]) return true;
    if (folder === "") return false;
  }
}

/** The entries that the lock lacks, by their path in it. */
export function findMissing(lock: Lock): Map<string, LockEntry> {
  const missing = new Map<string, LockEntry>();
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      if (isLocked(lock, path, name)) continue;
      missing.set(`node_modules/${name}`, {
        version: range.replace(/^[\^~=v]+/, ""),
        ...(entry.dev ? { dev: true } : {}),
        optional: true,
        ...toPlatform(name),
      });
    }
  }
  return missing;
}

/** The entries that name a place to download from. */
export function findAddresses(lock: Lock): string[] {
  return Object.keys(lock.packages).filter((path) => lock.packages[path]?.resolved !== undefined);
}

export function toCompleteLock(lock: Lock): Lock {
  const entries = new Map([...Object.entries(lock.packages), ...findMissing(lock)]);
  const sorted = [...entries].sort(([a], [b]) => a.localeCompare(b, "en"));
  for (const [, entry] of sorted) delete entry.resolved;
  return { ...lock, packages: Object.fromEntries(sorted) };
}

/** Packages whose bytes `npm ci` cannot check, by their path in the lock. */
export function findUnchecked(lock: Lock): string[] {
  const entries = Object.entries(lock.packages);
  return entries.flatMap(([path, { integrity }]) => (path === "" || integrity !== undefined ? [] : [path]));
}

async function addChecksums(lock: Lock): Promise<number> {
  let added = 0;
  for (const path of findUnchecked(lock)) if (await addChecksum(lock.packages[path] as LockEntry, path)) added++;
  return added;
}

async function addChecksum(entry: LockEntry, path: string): Promise<boolean> {
  const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  const asked = execute("npm", ["view", `${name}@${entry.version}`, "dist.integrity"]);
  const found = (await asked.catch(() => ({ stdout: "" }))).stdout.trim();
  if (!found.startsWith("sha512-")) return false;
  entry.integrity = found;
  return true;
}

const execute = promisify(execFile);

async function main(): Promise<void> {
  const lockUrl = new URL("../package-lock.json", import.meta.url);
  const lock = JSON.parse(readFileSync(lockUrl, "utf8")) as Lock;
  const missing = findMissing(lock);
  const addresses = findAddresses(lock);
  if (!process.argv.includes("--check")) {
    const complete = toCompleteLock(lock);
    const checksums = await addChecksums(complete);
    writeFileSync(lockUrl, `${JSON.stringify(complete, null, 2)}\n`);
    console.log(
      `package-lock.json: ${missing.size} entries and ${checksums} checksums added, ${addresses.length} addresses removed`,
    );
    const unchecked = findUnchecked(complete);
    if (unchecked.length > 0) console.log(`The registry has no checksum of:\n  ${unchecked.join("\n  ")}`);
    return;
  }
  for (const path of missing.keys()) console.error(`package-lock.json lacks ${path}`);
  for (const path of addresses) console.error(`package-lock.json names a download address for ${path}`);
  if (missing.size + addresses.length > 0) {
    console.error("Run: npm run lock");
    process.exitCode = 1;
  }
}

if (import.meta.main) await main();
