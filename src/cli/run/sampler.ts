// What the machine does while the program runs: CPU and memory of its processes and of the host, and its GPUs when
// `nvidia-smi` is there. Linux tells per process in /proc; elsewhere only the host is sampled.

import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { cpus, freemem, totalmem } from "node:os";
import { promisify } from "node:util";

const run = promisify(execFile);

export type Sample = Record<string, number>;

interface ProcessTotals {
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

// The kernel counts in ticks of 10 ms and pages of 4 KiB on every platform that Node runs on.
const tickMs = 10;
const pageBytes = 4096;

/** `groupId`: the process group that the program and its children are in. */
export function createSampler(groupId: number) {
  let before = { atMs: performance.now(), own: 0, host: readHost() };
  let gpus = true;
  return {
    async sample() {
      const atMs = performance.now();
      const elapsedMs = Math.max(1, atMs - before.atMs);
      const own = await readGroup(groupId);
      const host = readHost();
      const busy = host.busy - before.host.busy;
      const sample: Sample = {
        "system/host_cpu_percent": round((100 * busy) / Math.max(1, host.total - before.host.total)),
        "system/host_memory_percent": round((100 * (totalmem() - freemem())) / totalmem()),
      };
      if (own) {
        sample["system/cpu_percent"] = round(Math.max(0, (100 * (own.cpuMs - before.own)) / elapsedMs));
        sample["system/memory_bytes"] = own.memoryBytes;
      }
      before = { atMs, own: own?.cpuMs ?? before.own, host };
      if (gpus) {
        const read = await readGpus();
        gpus = read !== undefined;
        Object.assign(sample, read);
      }
      return sample;
    },
  };
}

function readHost(): { busy: number; total: number } {
  let busy = 0;
  let total = 0;
  for (const { times } of cpus()) {
    const all = times.user + times.nice + times.sys + times.idle + times.irq;
    total += all;
    busy += all - times.idle;
  }
  return { busy, total };
}

/** Sums the processes of a group; a program that only waits for its children still counts them. */
async function readGroup(groupId: number): Promise<ProcessTotals | undefined> {
  const names = await readdir("/proc").catch(() => undefined);
  if (!names) return undefined;
  let cpuMs = 0;
  let memoryBytes = 0;
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const text = await readFile(`/proc/${name}/stat`, "latin1").catch(() => "");
    const stat = parseStat(text);
    if (stat?.groupId !== groupId) continue;
    cpuMs += stat.cpuMs;
    memoryBytes += stat.memoryBytes;
  }
  return { cpuMs, memoryBytes };
}

/** The name of a process stands in brackets and may hold anything, so fields are counted after the last one. */
export function parseStat(text: string): (ProcessTotals & { groupId: number }) | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (fields.length < 22) return undefined;
  const field = (at: number) => Number(fields[at - 3]);
  // 5 pgrp · 14 utime · 15 stime · 16 cutime · 17 cstime · 24 rss, as in proc(5).
  const cpuMs = (field(14) + field(15) + field(16) + field(17)) * tickMs;
  return { groupId: field(5), cpuMs, memoryBytes: field(24) * pageBytes };
}

async function readGpus(): Promise<Sample | undefined> {
  const fields = "index,utilization.gpu,memory.used,power.draw,temperature.gpu";
  const args = [`--query-gpu=${fields}`, "--format=csv,noheader,nounits"];
  const answer = await run("nvidia-smi", args, { timeout: 5000 }).catch(() => undefined);
  return answer ? parseGpus(answer.stdout) : undefined;
}

export function parseGpus(csv: string): Sample {
  const sample: Sample = {};
  for (const line of csv.trim().split("\n")) {
    const [index, percent, memoryMib, watts, celsius] = line.split(",").map((cell) => Number(cell.trim()));
    const put = (name: string, value: number | undefined) => {
      if (value !== undefined && Number.isFinite(value)) sample[`system/gpu${index}_${name}`] = value;
    };
    put("percent", percent);
    put("memory_bytes", memoryMib === undefined ? undefined : memoryMib * 1024 * 1024);
    put("watts", watts);
    put("celsius", celsius);
  }
  return sample;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
