// Sends what was read, a few requests at a time, and waits when the server asks for it.

import type { BodyOf } from "#api/contract/routes.ts";
import { ApiError, type Client } from "#cli/client.ts";
import { ingestPaths } from "#protocol/facts.ts";
import type { RecordSender, Shipment } from "#protocol/reading/reader.ts";

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

export interface Sender extends RecordSender {
  readonly totals: ImportTotals;
  sendArtifact(file: string, run: string, name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
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
  const take = async (file: string, response: Response) => {
    const answer = (await response.json()) as Partial<StreamAnswer>;
    // An answer without counts is to one batch.
    if (answer.accepted === undefined) totals.batches++;
    totals.accepted += answer.accepted ?? 0;
    totals.duplicates += answer.duplicates ?? 0;
    for (const fault of answer.faults ?? []) note({ file, ...fault });
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
    send: (shipment, bytes) =>
      enqueue(bytes.length, async () => {
        const { route, file } = shipment;
        const headers = { "content-type": ingestPaths[route].media[0] };
        try {
          const run = runId ?? shipment.run;
          // The run stands in the path where that has a place for it. No type can say which routes those are.
          const isInPath = ingestPaths[route].path.includes("/:run/");
          const params = { run: run ?? "" };
          const query = toQuery(shipment, isInPath ? undefined : run, imported);
          await take(file, await client.open(route as "cirronRun", { params, query }, { raw: { bytes, headers } }));
        } catch (error) {
          // The server keeps what it refuses as a fault, and the next file is none the worse for it.
          if (!isRefused(error)) throw error;
          const offset = error.answer.at?.offset;
          note({ file, code: error.answer.code, message: error.message, ...(offset === undefined ? {} : { offset }) });
        }
      }),
    // A stream can be read only once, so a blob is not retried here but by importing again.
    sendBlob: (file, key, source, bytes) => {
      const query = toQuery({ file, source }, runId, imported);
      return takeFile(file, () => client.open("blob", { params: { "*": key }, query }, { raw: { bytes } }));
    },
    sendArtifact: (file, run, name, bytes) =>
      takeFile(file, () => client.open("putArtifact", { params: { run: runId ?? run, name } }, { raw: { bytes } })),
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

function toQuery({ file, source, query }: Omit<Shipment, "route">, run: string | undefined, imported: boolean) {
  const from = source === null ? {} : { source, file, ...(imported ? { imported: "1" as const } : {}) };
  return { ...from, ...query, ...(run === undefined ? {} : { run }) };
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
