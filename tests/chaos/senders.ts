// Clients of every kind that send until they are told to stop, and send again what was not answered, as real ones do.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { call, deliver, type Field, hex } from "./deliver.ts";
import { deletedRun } from "./ledger.ts";
import { sendPoints } from "./workers.ts";

/** Batches of one process, every fifth of them sent twice. */
export async function sendSpans(field: Field, process: number): Promise<void> {
  const { ledger, stopped, pauseMs } = field;
  const root = hex();
  for (let at = 0; !stopped.aborted; at++) {
    const spans = Array.from({ length: 20 }, (_, n) => ({ id: hex(), index: at * 20 + n }));
    for (const { id, index } of spans) ledger.send("spans", id, index);
    const body = gzipSync(toBatch(hex(), root, process, at, spans));
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    for (let copy = at % 5 === 0 ? 2 : 1; copy > 0; copy--)
      if (await deliver(field, "/v1/traces", body, headers))
        ledger.acknowledge(
          "spans",
          spans.map(({ id }) => id),
        );
    await sleep(pauseMs);
  }
}

function toBatch(
  id: string,
  root: string,
  pid: number,
  at: number,
  spans: readonly { id: string; index: number }[],
): string {
  const startNs = 1_794_710_396_000_000_000n + BigInt(at) * 1_000_000n;
  const rows = spans.map(
    (span) =>
      `{"id":"${span.id}","name":"step","parent_id":"${root}","index":${span.index},"start_ns":${startNs},"end_ns":${startNs + 10n},` +
      `"thread_id":1,"pid":${pid},"rank":0,"attrs":{},"mark_ids":[]}`,
  );
  return `{"schema_version":1,"sdk_version":"0.3.0","batch_id":"${id}","created_ns":${startNs},"spans":[${rows.join(",")}],"marks":[],"snapshots":[]}`;
}

const node = JSON.parse(
  readFileSync(join(import.meta.dirname, "../fixtures/semantiva/edge_values/trace.ser.jsonl"), "utf8")
    .split("\n")
    .find((line) => line.includes('"ser"')) as string,
) as { identity: Record<string, string>; timing: Record<string, unknown> };

/** Lines of node executions of one pipeline run, ten a request. */
export async function sendNodes(field: Field, name: string): Promise<void> {
  const { ledger, stopped, pauseMs } = field;
  const runId = `run-${name}-${hex()}`;
  for (let at = 0; !stopped.aborted; at++) {
    const ids = Array.from({ length: 10 }, hex);
    const lines = ids.map((id, n) => {
      ledger.send("nodes", `${runId}/${id}`, at * 10 + n);
      const identity = { ...node.identity, run_id: runId, node_id: id };
      return JSON.stringify({ ...node, identity, timing: { ...node.timing, wall_ms: at * 10 + n } });
    });
    const taken = await deliver(field, "/v1/trace-stream", Buffer.from(`${lines.join("\n")}\n`), {
      "content-type": "application/x-ndjson",
    });
    if (taken)
      ledger.acknowledge(
        "nodes",
        ids.map((id) => `${runId}/${id}`),
      );
    await sleep(5 + pauseMs);
  }
}

/** Files of spans that nobody has heard of yet, each sent until it is taken. */
export async function sendBlobs(field: Field): Promise<void> {
  const { ledger, stopped } = field;
  while (!stopped.aborted) {
    const path = `/v1/traces/blobs/snapshots/${hex()}/weights.bin`;
    const body = new Uint8Array(randomBytes(1000 + Math.floor(Math.random() * 100_000)));
    const headers = { "content-type": "application/octet-stream" };
    for (let isTaken = false; !isTaken && !stopped.aborted; ) {
      isTaken = (await call(field, path, { method: "PUT", body, headers }))?.status === 201;
      if (isTaken) ledger.keepBlob(path, body);
      await sleep(200);
    }
  }
}

/** Runs that are made, acknowledged and deleted; a deletion that was not answered is asked for again. */
export async function sendAndDelete(field: Field): Promise<void> {
  const { ledger, stopped } = field;
  for (let at = 0; !stopped.aborted; at++) {
    while (field.backups.isAwaited && !stopped.aborted) await sleep(100);
    const runId = `${deletedRun}${at}`;
    const part = new AbortController();
    const working = sendPoints({ ...field, stopped: AbortSignal.any([stopped, part.signal]) }, { runId, wid: "w0" });
    await sleep(300);
    part.abort();
    ledger.forgetPoints(await working, await remove(field, runId));
  }
}

async function remove(field: Field, runId: string): Promise<boolean> {
  const { stopped } = field;
  // A run is known once its rows are stored: before that there is nothing to delete.
  while (!stopped.aborted && (await call(field, "/readyz?drained=1"))?.status !== 200) await sleep(100);
  while (!stopped.aborted) {
    const answer = await call(field, `/api/v1/runs/${runId}`, { method: "DELETE" });
    if (answer !== null && (answer.status === 404 || (answer.status >= 200 && answer.status < 300))) return true;
    await sleep(100);
  }
  return false;
}
