// Where the code comes from and on what it runs: best effort, read from files, without starting git.

import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { arch, hostname, platform, release } from "node:os";
import { dirname, join, resolve } from "node:path";

export interface Source {
  readonly git_commit?: string;
  readonly git_branch?: string;
  readonly git_repo?: string;
  readonly entrypoint?: string;
  readonly code_hash?: string;
}

export interface RunEnv {
  readonly node_version: string;
  readonly platform: string;
  readonly hostname: string;
  readonly env_vars: Readonly<Record<string, string>>;
}

// Only variables that place a worker in its job; the others may hold secrets.
const shownVariables = ["CUDA_VISIBLE_DEVICES", "RANK", "LOCAL_RANK", "WORLD_SIZE", "NODE_ENV"];
const entrypointBytesMax = 4 * 1024 * 1024;

export function readSource(entrypoint: string | undefined = process.argv[1]): Source {
  const from = entrypoint === undefined ? process.cwd() : dirname(resolve(entrypoint));
  return { ...readGit(from), ...(entrypoint === undefined ? {} : readEntrypoint(resolve(entrypoint))) };
}

export function readEnv(): RunEnv {
  const env_vars: Record<string, string> = {};
  for (const name of shownVariables) {
    const value = process.env[name];
    if (value !== undefined) env_vars[name] = value;
  }
  return {
    node_version: process.versions.node,
    platform: `${platform()}-${release()}-${arch()}`,
    hostname: hostname(),
    env_vars,
  };
}

function readEntrypoint(path: string): Source {
  try {
    if (statSync(path).size > entrypointBytesMax) return { entrypoint: path };
    const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
    return { entrypoint: path, code_hash: `sha256:${hash}` };
  } catch {
    return { entrypoint: path };
  }
}

function readGit(from: string): Source {
  try {
    const folder = findGitFolder(from);
    if (folder === undefined) return {};
    const shared = readText(join(folder, "commondir")).trim();
    const common = shared === "" ? folder : resolve(folder, shared);
    const head = readText(join(folder, "HEAD")).trim();
    const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
    const commit = branch === undefined ? head : readRef(folder, common, `refs/heads/${branch}`);
    const repo = /\[remote "origin"\][^[]*?\n\s*url\s*=\s*(\S+)/.exec(readText(join(common, "config")))?.[1];
    return {
      ...(/^[0-9a-f]{40,64}$/.test(commit) ? { git_commit: commit } : {}),
      ...(branch === undefined ? {} : { git_branch: branch }),
      // A remote may carry a user name and a token.
      ...(repo === undefined ? {} : { git_repo: repo.replace(/^(\w+:\/\/)[^/@]*@/, "$1") }),
    };
  } catch {
    return {};
  }
}

function findGitFolder(from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, ".git");
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) return path;
    // A worktree has a file that names its folder.
    if (stat?.isFile()) return resolve(folder, /^gitdir: (.+)$/m.exec(readText(path))?.[1] ?? ".git");
    if (dirname(folder) === folder) return undefined;
  }
}

function readRef(folder: string, common: string, ref: string): string {
  const loose = readText(join(folder, ref)).trim() || readText(join(common, ref)).trim();
  if (loose !== "") return loose;
  const packed = readText(join(common, "packed-refs"));
  const line = packed.split("\n").find((text) => text.endsWith(` ${ref}`));
  return line?.split(" ")[0] ?? "";
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
