// Tells listeners that the process is ending, so that they can write what they still have. Nothing about the end
// itself changes: codes, messages and signals stay what they would be without us.

export interface EndListener {
  /** The program has nothing left to do; work that is started here is waited for. `code` is what it would exit with. */
  onLoopEnd?(code: number): void;
  /** Last call; only synchronous work still happens. */
  onExit(code: number): void;
  /** An uncaught error is about to end the process. */
  onError?(error: unknown): void;
  /** Signals to hear; the process dies of the signal when all answers are there, at the latest after a second. */
  readonly signals: readonly NodeJS.Signals[];
  onSignal(signal: NodeJS.Signals): void | Promise<void>;
}

const signalWaitMsMax = 1000;
const listeners = new Set<EndListener>();
const heardSignals = new Set<NodeJS.Signals>();
let isHooked = false;

/** Returns a function that stops listening. */
export function watchProcessEnd(listener: EndListener): () => void {
  if (!isHooked) hook();
  listeners.add(listener);
  for (const signal of listener.signals) hear(signal);
  return () => {
    listeners.delete(listener);
    for (const signal of listener.signals) if (!isWanted(signal)) unhear(signal);
  };
}

function hook(): void {
  isHooked = true;
  process.on("beforeExit", (code) => {
    for (const listener of [...listeners]) quietly(() => listener.onLoopEnd?.(code));
  });
  process.on("exit", (code) => {
    for (const listener of [...listeners]) quietly(() => listener.onExit(code));
  });
  process.on("uncaughtExceptionMonitor", (error) => {
    // A program that catches everything goes on, and so do its runs.
    if (process.listenerCount("uncaughtException") > 0) return;
    for (const listener of [...listeners]) quietly(() => listener.onError?.(error));
  });
}

function hear(signal: NodeJS.Signals): void {
  if (heardSignals.has(signal)) return;
  heardSignals.add(signal);
  // Some signals cannot be listened for.
  quietly(() => process.on(signal, onSignal));
}

function unhear(signal: NodeJS.Signals): void {
  heardSignals.delete(signal);
  process.removeListener(signal, onSignal);
}

function isWanted(signal: NodeJS.Signals): boolean {
  return [...listeners].some((listener) => listener.signals.includes(signal));
}

// A program may load this file twice, in two bundles: each recognises the other's listener by this mark.
const oursMark = Symbol.for("tributary.signal-listener");
Object.assign(onSignal, { [oursMark]: true });

function hasForeignListener(signal: NodeJS.Signals): boolean {
  return process.listeners(signal).some((listener) => !(oursMark in listener));
}

function onSignal(signal: NodeJS.Signals): void {
  const answers: Promise<void>[] = [];
  for (const listener of [...listeners]) {
    if (listener.signals.includes(signal)) quietly(() => answers.push(Promise.resolve(listener.onSignal(signal))));
  }
  // A program with a handler of its own decides for itself how it ends.
  if (hasForeignListener(signal)) return;
  const die = () => {
    unhear(signal);
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  const timer = setTimeout(die, signalWaitMsMax);
  void Promise.allSettled(answers).then(() => {
    clearTimeout(timer);
    die();
  });
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // Whatever fails here must not change how the program ends.
  }
}
