// glibc's allocator learns: each large array that is freed raises the size up to which it keeps freed memory for itself,
// and a server that has lived through a burst keeps hundreds of megabytes in pieces that are too small to be given back.
// With a fixed size every larger array is memory of its own and leaves with it. The allocator reads the size only when a
// process begins, so the process begins again, as itself.

const variable = "MALLOC_MMAP_THRESHOLD_";
const thresholdBytes = 128 * 1024;

/** Returns when the size is fixed, or where it cannot be. */
export function steadyAllocator(): void {
  const { execve, platform, env, execPath, execArgv, argv } = process;
  // A parent that talks to this process over a channel would lose it.
  if (platform !== "linux" || env[variable] !== undefined || execve === undefined || process.connected) return;
  const strings = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  execve.call(process, execPath, [execPath, ...execArgv, ...argv.slice(1)], {
    ...Object.fromEntries(strings),
    [variable]: String(thresholdBytes),
  });
}
