// npm starts a command in a shell and, when it is stopped, signals only the shell, which ends without passing the signal on.
// So a command started by npm treats the end of its parent as the signal.

const lookMs = 500;
/** Read when the program is loaded: later the shell may be gone. */
const parent = process.ppid;

/** Resolves when the shell is gone; never for a command that npm did not start. */
export function whenShellGone(env: NodeJS.ProcessEnv): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (env["npm_command"] !== "exec" && env["npm_command"] !== "run-script") return promise;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    resolve();
  }, lookMs);
  timer.unref();
  return promise;
}
