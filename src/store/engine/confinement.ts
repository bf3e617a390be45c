// What the system keeps the engine from, whatever a statement makes it do: it reaches only its own files and an empty
// network, and neither it nor a program that it starts has capabilities. `unshare` and `setpriv` of util-linux do this
// without root and then become the engine, so that it is still the process that the supervisor started. If they are
// missing, too old or not permitted, the next weaker confinement is used.

import { spawn } from "node:child_process";

/**
 * From the strongest to the weakest. Containers often permit no network of its own; older systems have no fence of
 * files.
 */
const confinements = ["files and network", "files", "network", "privileges", "none"] as const;
export type Confinement = (typeof confinements)[number];

export const strongest: Confinement = process.platform === "linux" ? "files and network" : "none";

export function weakerThan(confinement: Confinement): Confinement {
  return confinements[confinements.indexOf(confinement) + 1] ?? "none";
}

/**
 * The command that runs `command` with this confinement; `rules` says which files it may touch behind a fence of files.
 */
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
  // The system ends the engine with its server, even if it is stopped or deep in a call and does not notice the closed
  // channel.
  const always = ["--no-new-privs", "--pdeathsig", "KILL"];
  const unprivileged: [string, ...string[]] = ["setpriv", ...always, ...dropped, ...fenced, "--", ...command];
  if (!confinement.endsWith("network")) return unprivileged;
  // Without root, a network of its own needs a user namespace of its own.
  const users = isRoot ? [] : ["--user", "--map-current-user"];
  return ["unshare", ...users, "--net", "--", ...unprivileged];
}

/**
 * The exit codes of these tools if something is not permitted, or if one is missing. The engine has none of these
 * codes.
 */
export function isRefusal(code: number | null): boolean {
  return code === 1 || code === 126 || code === 127;
}

/**
 * Whether the fence of files may be why the engine failed: it was denied something, or crashed without a word. A locked
 * folder, a full disk or a lack of memory must not cost it the fence.
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

/** What a process needs to run. The settings of the server, including its secrets, are not for the engine. */
const passedOn = /^(?:PATH|HOME|TMPDIR|TZ|LANG|LC_\w+|LD_\w+|DYLD_\w+|NODE_\w+|MALLOC_\w+)$/;

export function engineEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const passed = Object.entries(env).filter(([name]) => passedOn.test(name));
  // Each running query holds a thread of libuv's pool; with the default of four, files and queries starve each other.
  // OpenSSL's configuration is outside the fence, and Node starts just as well without one.
  return { ...Object.fromEntries(passed), UV_THREADPOOL_SIZE: "16", OPENSSL_CONF: "/dev/null" };
}
