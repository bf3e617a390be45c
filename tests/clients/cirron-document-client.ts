// A sender written from Cirron's trace-format page alone: it shares no code with Tributary, so that both read the page
// for themselves. It posts batches as "Wire format: POST /v1/traces" says, and nothing else.

import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { gzipSync } from "node:zlib";

/** 32 hex digits: UUID4 without dashes. */
export const newId = (): string => randomUUID().replaceAll("-", "");

export interface DocumentBatch {
  readonly schema_version: 1;
  readonly sdk_version: string;
  readonly batch_id: string;
  /** Nanoseconds have more digits than a number holds, so they are JSON text here. */
  readonly created_ns: string;
  readonly spans: readonly string[];
  readonly marks: readonly string[];
  readonly snapshots: readonly string[];
}

/** The batch as the page writes it; its records are JSON text already. */
export function toBody(batch: DocumentBatch): string {
  return `{
  "schema_version": ${batch.schema_version},
  "sdk_version": "${batch.sdk_version}",
  "batch_id": "${batch.batch_id}",
  "created_ns": ${batch.created_ns},
  "spans": [ ${batch.spans.join(", ")} ],
  "marks": [ ${batch.marks.join(", ")} ],
  "snapshots": [ ${batch.snapshots.join(", ")} ]
}`;
}

export interface DocumentAnswer {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
}

/** One POST, exactly with the page's headers. */
export function postBatch(url: string, apiKey: string, batch: DocumentBatch): Promise<DocumentAnswer> {
  const body = gzipSync(toBody(batch));
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    "Content-Type": "application/json",
    "Content-Encoding": "gzip",
    "X-Cirron-SDK-Version": batch.sdk_version,
    "Content-Length": body.length,
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/traces`, { method: "POST", headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
          retryAfter: response.headers["retry-after"],
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
