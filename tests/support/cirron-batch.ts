// Cirron batches for tests that care about ids and parents only.

/** An id as the SDK makes them, from a word of at most 16 letters. */
export function hex(word: string): string {
  return Buffer.from(word.padEnd(16, "_")).toString("hex").slice(0, 32);
}

export interface BatchSpan {
  readonly id: string;
  readonly parent: string | null;
  readonly name: string;
  readonly at: number;
}

export interface BatchProcess {
  readonly pid: number;
  readonly thread: number;
}

const usualProcess: BatchProcess = { pid: 70, thread: 7 };

/** A batch as the SDK sends it; each span has a mark. */
export function toBatchText(id: string, spans: readonly BatchSpan[], { pid, thread } = usualProcess): string {
  const startNs = 1_794_710_000_000_000_000n;
  const text = JSON.stringify({
    schema_version: 1,
    sdk_version: "0.2.0",
    batch_id: hex(id),
    created_ns: `#${startNs}#`,
    spans: spans.map((span) => ({
      id: hex(span.id),
      parent_id: span.parent === null ? null : hex(span.parent),
      name: span.name,
      start_ns: `#${startNs + BigInt(span.at) * 1000n}#`,
      end_ns: `#${startNs + BigInt(span.at + 1) * 1000n}#`,
      index: null,
      cpu_ns: null,
      gpu_ns: null,
      memory_peak_bytes: null,
      thread_id: thread,
      pid,
      rank: 0,
      attrs: {},
      mark_ids: [hex(`m${span.id}`)],
    })),
    marks: spans.map((span) => ({
      id: hex(`m${span.id}`),
      span_id: hex(span.id),
      name: "loss",
      value_type: "float",
      value: span.at + 0.5,
      kind: "point",
      ts_ns: `#${startNs + BigInt(span.at) * 1000n}#`,
      attrs: {},
    })),
    snapshots: [],
  });
  return text.replaceAll(/"#(\d+)#"/g, "$1");
}
