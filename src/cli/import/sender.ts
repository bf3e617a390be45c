// Sends what was read, a few requests at a time, and waits when the server asks for it.

import { ApiError, type Client } from "#cli/client.ts";

export interface ImportFault {
  readonly file: string;
  readonly line?: number;
  readonly offset?: number;
  readonly code: string;
  readonly message: string;
}

export interface ImportTotals {
  files: number;
  batches: number;
  blobs: number;
  accepted: number;
  duplicates: number;
  bytes: number;
  faultCount: number;
  /** The first of them. */
  readonly faults: ImportFault[];
}

export interface Sender {
  readonly totals: ImportTotals;
  sendBatch(file: string, source: string, bytes: Uint8Array): Promise<void>;
  sendLines(file: string, source: string, bytes: Uint8Array, line: number, offset: number): Promise<void>;
  sendFrames(file: string, source: string, bytes: Uint8Array, offset: number, currentRun: string | null): Promise<void>;
  sendBlob(file: string, key: string, source: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Resolves when everything sent was answered and can be queried. */
  settle(): Promise<void>;
}

export interface SenderOptions {
  readonly client: Client;
  readonly runId: string | undefined;
  /** Written earlier, not by a program that still runs. */
  readonly imported: boolean;
  readonly onBytes: (bytes: number) => void;
}

const inFlightMax = 4;
const faultsMax = 100;

export function createSender({ client, runId, imported, onBytes }: SenderOptions): Sender {
  const totals: ImportTotals = {
    files: 0,
    batches: 0,
    blobs: 0,
    accepted: 0,
    duplicates: 0,
    bytes: 0,
    faultCount: 0,
    faults: [],
  };
  const inFlight = new Set<Promise<void>>();
  let failure: unknown;

  const note = (fault: ImportFault) => {
    totals.faultCount++;
    if (totals.faults.length < faultsMax) totals.faults.push(fault);
  };
  /** Starts a request when fewer than the limit are under way; its failure is thrown by a later call. */
  const enqueue = async (size: number, task: () => Promise<void>) => {
    while (inFlight.size >= inFlightMax) await Promise.race(inFlight);
    if (failure !== undefined) throw failure;
    const started = retryBusy(task)
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
  const arrival = (source: string) => ({ source, ...(imported ? { imported: "1" as const } : {}) });
  const run = runId === undefined ? {} : { run: runId };
  const takeStream = async (file: string, response: Response) => {
    const answer = (await response.json()) as StreamAnswer;
    totals.accepted += answer.accepted;
    totals.duplicates += answer.duplicates;
    for (const fault of answer.faults) note({ file, ...fault });
  };

  return {
    totals,
    sendBatch: (file, source, bytes) =>
      enqueue(bytes.length, async () => {
        const query = { ...arrival(source), ...run, file };
        try {
          await client.open("cirron", { query }, { raw: { bytes, headers: { "content-type": "application/json" } } });
          totals.batches++;
        } catch (error) {
          // Not a batch: the server keeps it as a fault, and the next file is none the worse for it.
          if (!isRefused(error)) throw error;
          const offset = error.answer.at?.offset;
          note({ file, code: error.answer.code, message: error.message, ...(offset === undefined ? {} : { offset }) });
        }
      }),
    sendLines: (file, source, bytes, line, offset) =>
      enqueue(bytes.length, async () => {
        const query = { ...arrival(source), ...run, file, line, offset };
        await takeStream(file, await client.open("semantiva", { query }, { raw: { bytes } }));
      }),
    sendFrames: (file, source, bytes, offset, currentRun) =>
      enqueue(bytes.length, async () => {
        const current = currentRun === null ? {} : { current_run: currentRun };
        const query = { ...arrival(source), ...run, ...current, file, offset };
        await takeStream(file, await client.open("xtrack", { query }, { raw: { bytes } }));
      }),
    sendBlob: async (file, key, source, bytes) => {
      const query = { ...arrival(source), ...run };
      try {
        // A stream can be read only once, so a blob is not retried here but by importing again.
        await client.open("blob", { params: { "*": key }, query }, { raw: { bytes } });
        totals.blobs++;
      } catch (error) {
        if (!isRefused(error)) throw error;
        note({ file, code: error.answer.code, message: error.message });
      }
    },
    settle: async () => {
      while (inFlight.size > 0) await Promise.race(inFlight);
      if (failure !== undefined) throw failure;
      await client.call("readyz", { query: { drained: "1" } });
    },
  };
}

/** The server wants none of it, now or later. */
function isRefused(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 400 || error.status === 413);
}

interface StreamAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  readonly faults: readonly { line?: number; offset?: number; code: string; message: string }[];
}

/** Sends again for as long as the server says that it has no room. */
async function retryBusy(task: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.max(1, error.retryAfterS) * 1000));
    }
  }
}
