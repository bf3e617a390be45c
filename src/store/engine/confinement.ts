// What the system keeps the engine from, whatever a statement makes it do: files that are not its own, an empty network,
// no capabilities, and none to be had from a program that it starts. `unshare` and `setpriv` of util-linux do this without
// root and then become the engine, so that it is still the process that the supervisor started. Where they are missing, too
// old or not allowed to, the next weaker is taken.

import { spawn } from "node:child_process";

/** What it is kept from, from the strongest on. Containers often allow no network of its own, older systems no fence of files. */
const confinements = ["files and network", "files", "network", "privileges", "none"] as const;
export type Confinement = (typeof confinements)[number];

export const strongest: Confinement = process.platform === "linux" ? "files and network" : "none";

export function weakerThan(confinement: Confinement): Confinement {
  return confinements[confinements.indexOf(confinement) + 1] ?? "none";
}

/** The command that runs `command` so confined; `rules` say which files it may touch where these are fenced off. */
export function confine(
  confinement: Confinement,
  command: readonly string[],
  rules: () => readonly string[],
): [string, ...string[]] {
  if (confinement === "none") return [...command] as [string, ...string[]];
  const isRoot = process.getuid?.() === 0;
  // A folder that root serves may hold files of others.
  const dropped = isRoot ? ["--inh-caps=-all", "--bounding-set=-all,+dac_override"] : [];
  const fenced = confinement.startsWith("files") ? rules() : [];
  // The system ends it with its server, also where it stands still or is deep in a call and hears of no closed channel.
  const always = ["--no-new-privs", "--pdeathsig", "KILL"];
  const unprivileged: [string, ...string[]] = ["setpriv", ...always, ...dropped, ...fenced, "--", ...command];
  if (!confinement.endsWith("network")) return unprivileged;
  // Who is not root may have a network of their own only among users of their own.
  const users = isRoot ? [] : ["--user", "--map-current-user"];
  return ["unshare", ...users, "--net", "--", ...unprivileged];
}

/** What the tools say whose work is not allowed, or of which one is missing: none of these is the engine's. */
export function isRefusal(code: number | null): boolean {
  return code === 1 || code === 126 || code === 127;
}

/**
 * Whether a failure of the engine itself may come of its fence of files: it was denied something, or broke without a word.
 * A folder that is locked, a full disk or a lack of memory must not cost it the fence.
 */
export function mayBeOfFence(words: string, crash: NodeJS.Signals | null): boolean {
  if (/permission denied|access to file denied|not permitted|\bE(?:ACCES|PERM|XDEV)\b|cross-device/i.test(words))
    return true;
  return crash !== null && crash !== "SIGKILL" && !/memory/i.test(words);
}

/** The strongest that this machine offers. */
export async function findConfinement(): Promise<Confinement> {
  let confinement = strongest;
  const rules = (): string[] => ["--landlock-access=fs", "--landlock-rule=path-beneath:read-file,execute:/"];
  while (confinement !== "none" && !(await succeeds(confine(confinement, ["true"], rules))))
    confinement = weakerThan(confinement);
  return confinement;
}

function succeeds([file, ...words]: [string, ...string[]]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(file, words, { stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}

/** What a process needs to run. Settings of the server, among them its secrets, are not for the engine. */
const passedOn = /^(?:PATH|HOME|TMPDIR|TZ|LANG|LC_\w+|LD_\w+|DYLD_\w+|NODE_\w+|MALLOC_\w+)$/;

export function engineEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passed = Object.entries(env).filter(([name]) => passedOn.test(name));
  // Each running query holds a thread of libuv's pool; with the usual four, files and queries starve each other.
  // The system's own settings of OpenSSL lie behind the fence, and without any Node starts just as well.
  return { ...Object.fromEntries(passed), UV_THREADPOOL_SIZE: "16", OPENSSL_CONF: "/dev/null" };
}
