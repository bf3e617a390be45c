// Sends what was read, a few requests at a time, and waits when the server asks for it.

import { setTimeout as sleep } from "node:timers/promises";
import type { BodyOf } from "#api/contract/routes.ts";
import { given } from "#base/given.ts";
import { isAway } from "#cli/away.ts";
import { ApiError, type Client } from "#cli/client.ts";
import { ingestPaths, type printedRoutes } from "#protocol/facts.ts";
import {
  headBytes,
  newline,
  type ReadBytes,
  type ReadFault,
  type RecordSender,
  type Shipment,
} from "#protocol/reading/reader.ts";
import { addAnswer, createTotals, type ImportTotals, noteFault } from "./totals.ts";

export interface Sender extends RecordSender {
  readonly totals: ImportTotals;
  sendArtifact(file: string, run: string, name: string, read: ReadBytes): Promise<void>;
  editRun(file: string, run: string, edit: BodyOf<"patchRun">): Promise<void>;
  /** What an export has of a run besides its records. */
  tellHistory(file: string, run: string, history: BodyOf<"runHistory">): Promise<void>;
  /** Resolves when everything sent was answered and, if it is waited for, can be queried. */
  settle(): Promise<void>;
}

export interface SenderOptions {
  readonly client: Client;
  readonly runId: string | undefined;
  /** Written earlier, not by a program that still runs. */
  readonly imported: boolean;
  readonly onBytes: (bytes: number) => void;
  readonly patience: Patience;
}

const inFlightMax = 4;

export function createSender({ client, runId, imported, onBytes, patience }: SenderOptions): Sender {
  const totals = createTotals();
  const note = (fault: ReadFault) => noteFault(totals, fault);
  const patiently = <T>(task: () => Promise<T>) => sendPatiently(task, patience);
  const { enqueue, whenIdle } = createQueue(totals, onBytes, patiently);

  const noteRefused = (error: unknown, file: string) => {
    if (!isRefused(error)) throw error;
    const offset = error.answer.at?.offset;
    note({ file, code: error.answer.code, message: error.message, ...given({ offset }) });
  };
  const takeFile = async (file: string, put: () => Promise<Response>) => {
    try {
      await patiently(put);
      totals.blobs++;
    } catch (error) {
      noteRefused(error, file);
    }
  };
  /** About a run that may not exist: its file was cut, or the server refused its records. */
  const tell = async (file: string, run: string, ask: () => Promise<unknown>) => {
    try {
      await patiently(ask);
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 404 && !isRefused(error))) throw error;
      note({ file, code: error.answer.code, message: `edits and history of ${run} are left out: ${error.message}` });
    }
  };
  const post = async (shipment: Shipment, bytes: Uint8Array): Promise<unknown> => {
    const { route } = shipment;
    const run = runId ?? shipment.run;
    // The run stands in the path where that has a place for it. No type can say which routes those are.
    const isInPath = ingestPaths[route].path.includes("/:run/");
    const query = toQuery(shipment, isInPath ? undefined : run, imported);
    const raw = { bytes, headers: { "content-type": ingestPaths[route].media[0] } };
    return (
      await client.open(route as typeof printedRoutes.batch, { params: { run: run ?? "" }, query }, { raw })
    ).json();
  };

  return {
    totals,
    note,
    send: (shipment, bytes) =>
      enqueue(bytes.length, async () => {
        const { file } = shipment;
        const take = (answer: unknown) => addAnswer(totals, file, answer);
        try {
          await postParts({ post, take, note }, shipment, bytes);
        } catch (error) {
          // The server keeps what it refuses as a fault, and the next file does not suffer.
          noteRefused(error, file);
        }
      }),
    sendBlob: (file, key, source, read) => {
      const query = toQuery({ file, source }, runId, imported);
      return takeFile(file, () => client.open("blob", { params: { "*": key }, query }, { raw: { bytes: read() } }));
    },
    sendArtifact: (file, run, name, read) =>
      takeFile(file, () =>
        client.open("putArtifact", { params: { run: runId ?? run, name } }, { raw: { bytes: read() } }),
      ),
    editRun: (file, run, edit) =>
      tell(file, run, () => client.call("patchRun", { params: { id: runId ?? run }, body: edit })),
    tellHistory: (file, run, history) =>
      tell(file, run, () => client.call("runHistory", { params: { id: runId ?? run }, body: history })),
    settle: async () => {
      await whenIdle();
      if (!patience.waits) return;
      // Who asks to stop now does not wait for a store that may have no room. Who asked before wants what was sent to be there.
      const signal = patience.stop.aborted ? {} : { signal: patience.stop };
      await patiently(() => client.open("readyz", { query: { drained: "1" } }, signal)).catch((error: unknown) => {
        if (signal.signal?.aborted !== true) throw error;
      });
    },
  };
}

function toQuery({ file, source, query }: Omit<Shipment, "route">, run: string | undefined, imported: boolean) {
  const from = source === null ? {} : { source, file, ...(imported ? { imported: "1" as const } : {}) };
  return { ...from, ...query, ...given({ run }) };
}

/** Runs a few requests at a time; if one fails, a later call throws its error. */
function createQueue(
  totals: ImportTotals,
  onBytes: (bytes: number) => void,
  send: (task: () => Promise<void>) => Promise<void>,
) {
  const inFlight = new Set<Promise<void>>();
  let failure: unknown;
  const enqueue = async (size: number, task: () => Promise<void>): Promise<void> => {
    while (inFlight.size >= inFlightMax) await Promise.race(inFlight);
    if (failure !== undefined) throw failure;
    const started = send(task)
      .then(() => {
        totals.bytes += size;
        onBytes(size);
      })
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => inFlight.delete(started));
    inFlight.add(started);
  };
  const whenIdle = async (): Promise<void> => {
    while (inFlight.size > 0) await Promise.race(inFlight);
    if (failure !== undefined) throw failure;
  };
  return { enqueue, whenIdle };
}

/** Whether the server will never take it. */
function isRefused(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 400 || error.status === 413);
}

// When to retry: whenever the server is too busy, mostly when its disk is full and, when following files, also while it is
// away, because it may only be restarting.

interface Patience {
  /** Whether a server that is away is waited for. */
  readonly follows: boolean;
  /** Whether room on the server's disk is waited for and, in the end, that everything can be queried. */
  readonly waits: boolean;
  /** Ends the waiting, but for a server that is only busy: what was begun is sent to its end. */
  readonly stop: AbortSignal;
  /** Called at each try while the server is away or its disk is full. */
  readonly onWait: (reason: string) => void;
}

const awayMs = 1000;

async function sendPatiently<T>(task: () => Promise<T>, { follows, waits, stop, onWait }: Patience): Promise<T> {
  for (;;) {
    try {
      return await task();
    } catch (error) {
      const isRefusedNow = error instanceof ApiError && error.status === 429;
      const isBusy = isRefusedNow && error.answer.code !== "disk_full";
      const isAwaited = isRefusedNow ? waits || follows : follows && isAway(error);
      if (!isBusy && (stop.aborted || !isAwaited)) throw error;
      if (!isBusy) onWait((error as Error).message);
      const waitMs = isRefusedNow ? Math.max(1, error.retryAfterS) * 1000 : awayMs;
      await sleep(waitMs, undefined, stop.aborted ? {} : { signal: stop }).catch(() => undefined);
    }
  }
}

// One request, or several if the bytes are lines and exceed the server's limit. Of a line that is too long for a request of
// its own, the beginning is sent, which the server keeps as a fault; the other lines are taken.

interface Post {
  /** Resolves with the answer's JSON. */
  readonly post: (shipment: Shipment, bytes: Uint8Array) => Promise<unknown>;
  readonly take: (answer: unknown) => void;
  readonly note: (fault: ReadFault) => void;
}

async function postParts(how: Post, shipment: Shipment, bytes: Uint8Array): Promise<void> {
  const { line, offset = 0 } = shipment.query ?? {};
  try {
    how.take(await how.post(shipment, bytes));
  } catch (error) {
    const isTooLarge = error instanceof ApiError && error.status === 413 && bytes.length > headBytes;
    if (!isTooLarge || line === undefined) throw error;
    const half = findLineEnd(bytes, bytes.length / 2);
    if (half < bytes.length) {
      const [first, second] = [bytes.subarray(0, half), bytes.subarray(half)];
      await postParts(how, shipment, first);
      const query = { ...shipment.query, line: line + countLines(first), offset: offset + half };
      return postParts(how, { ...shipment, query }, second);
    }
    const message = `The line has ${bytes.length} bytes. ${error.message}`;
    how.note({ file: shipment.file, line, code: "line_too_long", message });
    // The line is torn only because we cut it, so the fault that the server reports is not passed on.
    await how.post(shipment, bytes.subarray(0, headBytes));
  }
}

/** Where the lines can be parted: at the end of the line around `at`, else of the one before the last. */
function findLineEnd(bytes: Uint8Array, at: number): number {
  const next = bytes.indexOf(newline, Math.floor(at)) + 1;
  if (next > 0 && next < bytes.length) return next;
  const before = bytes.lastIndexOf(newline, bytes.length - 2) + 1;
  return before > 0 ? before : bytes.length;
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}
