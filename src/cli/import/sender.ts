// Sends what was read, a few requests at a time, and waits when the server asks for it.

import type { BodyOf, QueryOf } from "#api/contract/routes.ts";
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

/** What an exported line says of where its records belong. */
export interface Belonging {
  /** The run, where the records themselves do not say it. */
  readonly run?: string;
}

export interface Sender {
  readonly totals: ImportTotals;
  sendBatch(file: string, source: string, bytes: Uint8Array, to?: Belonging): Promise<void>;
  sendLines(
    file: string,
    source: string,
    bytes: Uint8Array,
    line: number,
    offset: number,
    to?: Belonging,
  ): Promise<void>;
  sendFrames(
    file: string,
    source: string,
    bytes: Uint8Array,
    offset: number,
    currentRun: string | null,
    to?: Belonging,
  ): Promise<void>;
  sendBlob(file: string, key: string, source: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  sendArtifact(file: string, run: string, name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  sendOutput(file: string, run: string, query: QueryOf<"output">, bytes: Uint8Array): Promise<void>;
  sendWrapperLines(file: string, run: string, wrapper: string, bytes: Uint8Array): Promise<void>;
  editRun(run: string, edit: BodyOf<"patchRun">): Promise<void>;
  /** What an export tells of a run beside its records. */
  tellHistory(run: string, history: BodyOf<"runHistory">): Promise<void>;
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
  const note = (fault: ImportFault) => {
    totals.faultCount++;
    if (totals.faults.length < faultsMax) totals.faults.push(fault);
  };
  const { enqueue, whenIdle } = createQueue(totals, onBytes);
  const arrival = (source: string) => ({ source, ...(imported ? { imported: "1" as const } : {}) });
  const runOf = ({ run }: Belonging = {}) => {
    const named = runId ?? run;
    return named === undefined ? {} : { run: named };
  };
  const takeStream = async (file: string, response: Response) => {
    const answer = (await response.json()) as StreamAnswer;
    totals.accepted += answer.accepted;
    totals.duplicates += answer.duplicates;
    for (const fault of answer.faults) note({ file, ...fault });
  };

  const takeFile = async (file: string, send: () => Promise<Response>) => {
    try {
      await send();
      totals.blobs++;
    } catch (error) {
      if (!isRefused(error)) throw error;
      note({ file, code: error.answer.code, message: error.message });
    }
  };

  return {
    totals,
    sendBatch: (file, source, bytes, to) =>
      enqueue(bytes.length, async () => {
        const query = { ...arrival(source), ...runOf(to), file };
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
    sendLines: (file, source, bytes, line, offset, to) =>
      enqueue(bytes.length, async () => {
        const query = { ...arrival(source), ...runOf(to), file, line, offset };
        await takeStream(file, await client.open("semantiva", { query }, { raw: { bytes } }));
      }),
    sendFrames: (file, source, bytes, offset, currentRun, to) =>
      enqueue(bytes.length, async () => {
        const current = currentRun === null ? {} : { current_run: currentRun };
        const query = { ...arrival(source), ...runOf(to), ...current, file, offset };
        await takeStream(file, await client.open("xtrack", { query }, { raw: { bytes } }));
      }),
    // A stream can be read only once, so a blob is not retried here but by importing again.
    sendBlob: (file, key, source, bytes) =>
      takeFile(file, () =>
        client.open("blob", { params: { "*": key }, query: { ...arrival(source), ...runOf() } }, { raw: { bytes } }),
      ),
    sendArtifact: (file, run, name, bytes) =>
      takeFile(file, () => client.open("putArtifact", { params: { run: runId ?? run, name } }, { raw: { bytes } })),
    sendOutput: (file, run, query, bytes) =>
      enqueue(bytes.length, async () => {
        const params = { run: runId ?? run };
        await takeStream(file, await client.open("output", { params, query }, { raw: { bytes } }));
      }),
    sendWrapperLines: (file, run, wrapper, bytes) =>
      enqueue(bytes.length, async () => {
        const params = { run: runId ?? run };
        await takeStream(file, await client.open("wrapper", { params, query: { wrapper } }, { raw: { bytes } }));
      }),
    editRun: async (run, edit) => {
      await client.call("patchRun", { params: { id: runId ?? run }, body: edit });
    },
    tellHistory: async (run, history) => {
      await client.call("runHistory", { params: { id: runId ?? run }, body: history });
    },
    settle: async () => {
      await whenIdle();
      await client.call("readyz", { query: { drained: "1" } });
    },
  };
}

/** A few requests under way; the failure of one is thrown by a later call. */
function createQueue(totals: ImportTotals, onBytes: (bytes: number) => void) {
  const inFlight = new Set<Promise<void>>();
  let failure: unknown;
  const enqueue = async (size: number, task: () => Promise<void>): Promise<void> => {
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
  const whenIdle = async (): Promise<void> => {
    while (inFlight.size > 0) await Promise.race(inFlight);
    if (failure !== undefined) throw failure;
  };
  return { enqueue, whenIdle };
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
