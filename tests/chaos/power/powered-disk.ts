// A disk whose power can be cut under a running server: a file system on a loop device, on a file that a program of ours serves
// (cached-disk.ts). A program that is stopped answers nothing any more, so nobody hears of a sync that the disk did not finish;
// what the kernel held for the disk is thrown away with the file system, and the next one is mounted from what the disk had.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { accessSync, closeSync, openSync, rmdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Keeps, settle } from "./cached-disk.ts";
import { mode } from "./fuse.ts";

const program = join(import.meta.dirname, "../../children/cached-disk.ts");
const makers = {
  ext4: ["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
  xfs: ["mkfs.xfs", "-q", "-f", "-K"],
} as const;
export type FileSystem = keyof typeof makers;
export const fileSystems = Object.keys(makers) as FileSystem[];

/** The file is sparse. */
const sizeBytes = 4 * 2 ** 30;
/** Processes that were killed may still be ending. */
const unmountMs = 60_000;

/** Why no power can be cut on this machine; null when it can. */
export function whyNoPower(fileSystem: FileSystem): string | null {
  if (process.getuid?.() !== 0) return "Only root can mount a file system on a disk of its own.";
  for (const device of ["/dev/fuse", "/dev/loop-control"])
    try {
      accessSync(device);
    } catch {
      return `There is no ${device}, which the disk is made with.`;
    }
  const [maker] = makers[fileSystem];
  return spawnSync(maker, ["-V"]).error === undefined ? null : `${maker} is not installed.`;
}

export class PoweredDisk {
  private readonly folder: string;
  private readonly fileSystem: FileSystem;
  /** The mounted file that the loop device is made of, the medium and the cache. */
  private readonly file: string;
  private readonly medium: string;
  private readonly cache: string;
  private served: ChildProcess | null = null;
  private loop: string | null = null;
  /** Sectors that were not flushed when the power went, and how many of them were lost, in all. */
  readonly sectors = { cached: 0, lost: 0 };

  private constructor(folder: string, fileSystem: FileSystem) {
    this.folder = folder;
    this.fileSystem = fileSystem;
    [this.file, this.medium, this.cache] = [`${folder}.disk`, `${folder}.medium`, `${folder}.cache`];
  }

  /** An empty file system on the folder. */
  static async create(folder: string, fileSystem: FileSystem): Promise<PoweredDisk> {
    const disk = new PoweredDisk(folder, fileSystem);
    for (const path of [disk.file, disk.medium]) writeFileSync(path, "");
    truncateSync(disk.medium, sizeBytes);
    const [maker, ...words] = makers[fileSystem];
    execFileSync(maker, [...words, disk.medium], { stdio: ["ignore", "ignore", "inherit"] });
    await disk.plugIn();
    if (fileSystem === "ext4") rmdirSync(join(folder, "lost+found"));
    return disk;
  }

  /** The disk does and says nothing any more. */
  stop(): void {
    this.served?.kill("SIGSTOP");
  }

  /** What waits for the disk hears that it failed, which lets killed processes end. */
  async pullOut(): Promise<void> {
    const { served, loop } = this;
    if (served === null) return;
    this.served = null;
    const ended = once(served, "exit");
    served.kill("SIGKILL");
    await ended;
    await unmount(this.folder);
    if (loop !== null) execFileSync("losetup", ["-d", loop]);
    this.loop = null;
    await unmount(this.file);
  }

  /** The power is back, and the disk has what it keeps. */
  async comeBack(keeps: Keeps): Promise<void> {
    const { cached, lost } = settle(this.medium, this.cache, keeps);
    this.sectors.cached += cached;
    this.sectors.lost += lost;
    await this.plugIn();
  }

  async remove(): Promise<void> {
    await this.pullOut();
    for (const path of [this.file, this.medium, this.cache]) rmSync(path, { force: true });
  }

  private async plugIn(): Promise<void> {
    const kernel = openSync("/dev/fuse", "r+");
    try {
      const served = spawn(process.execPath, [program, this.medium, this.cache], {
        stdio: ["ignore", "inherit", "inherit", kernel],
      });
      this.served = served;
      const options = `fd=3,rootmode=${mode.toString(8)},user_id=0,group_id=0,allow_other`;
      const words = ["-i", "-t", "fuse", "-o", options, "tributary-disk", this.file];
      await run("mount", words, kernel);
    } finally {
      // The program must be the only one to hold it: the mount ends with it.
      closeSync(kernel);
    }
    this.loop = (await run("losetup", ["--find", "--show", this.file])).trim();
    await run("mount", ["-t", this.fileSystem, this.loop, this.folder]);
  }
}

/** Without blocking this process, which reads what the others say. */
async function run(command: string, words: readonly string[], descriptor?: number): Promise<string> {
  const child = spawn(command, words, {
    stdio: ["ignore", "pipe", "inherit", ...(descriptor === undefined ? [] : [descriptor])],
  });
  let said = "";
  child.stdout?.on("data", (chunk) => {
    said += String(chunk);
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${command} ${words.join(" ")} ended with ${code}`);
  return said;
}

async function unmount(path: string): Promise<void> {
  for (const until = performance.now() + unmountMs; ; await sleep(100)) {
    const { status, stderr } = spawnSync("umount", [path], { encoding: "utf8" });
    if (status === 0) return;
    if (performance.now() > until) throw new Error(`${path} could not be unmounted: ${stderr}`);
  }
}
