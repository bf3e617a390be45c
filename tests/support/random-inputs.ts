// Random but repeatable inputs of all protocols for one workspace: processes with trees of spans cut into batches,
// repeated, forked and contradicted; runs with events sent twice; lines of pipelines; captured output.

import type { Input } from "#intake/input.ts";
import type { LogLinesInput } from "#intake/run/log-lines.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";

type Random = () => number;

/** Numbers from 0 to 1 that are the same for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

export function toInputs(workspace: string, seed: number): Input[] {
  const random = createRandom(seed);
  const bodies = shuffled(
    [...cirronInputs(random, seed), ...xtrackInputs(random), ...semantivaInputs(random), ...logInputs(random)],
    random,
  );
  return bodies.map(
    (one, at) =>
      ({
        workspace,
        transport: "http",
        source: "key",
        runOverride: null,
        imported: false,
        receivedNs: 1_800_000_000_000_000_000n + BigInt(at) * 1_000_000n,
        file: "",
        firstLine: 1,
        offset: 0,
        currentRun: null,
        ...one,
      }) as unknown as Input,
  );
}

const encoder = new TextEncoder();
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const hourNs = 3_600_000_000_000n;

interface Row {
  readonly table: "spans" | "marks";
  readonly row: Record<string, unknown>;
}

function cirronInputs(random: Random, seed: number): Partial<Input>[] {
  const inputs: Partial<Input>[] = [];
  for (let process = 0; process < 2; process++) {
    const rows = shuffled(processRows(random, seed, process), random);
    const source = pick(random, ["key", "folder"]);
    const runOverride = random() < 0.2 ? `named-${process}` : null;
    const batches: Row[][] = [];
    for (let at = 0; at < rows.length; ) {
      const size = 1 + Math.floor(random() * 6);
      batches.push(rows.slice(at, at + size));
      at += size;
    }
    for (const [at, batch] of batches.entries()) {
      const id = idOf(`b${seed}.${process}.${at}`);
      const imported = random() < 0.3;
      const more = { source, runOverride: random() < 0.5 ? runOverride : null, imported };
      inputs.push({ ...more, ...toBatch(id, batch) });
      if (random() < 0.3) inputs.push({ ...more, source: pick(random, ["key", "folder"]), ...toBatch(id, batch) });
      if (random() < 0.15) inputs.push({ ...more, ...toBatch(idOf(`fork${id}`), batch) });
      if (random() < 0.1) inputs.push({ ...more, ...toBatch(id, [...batch, ...(batches[0] as Row[])]) });
    }
  }
  return inputs;
}

function processRows(random: Random, seed: number, process: number): Row[] {
  const pid = pick(random, [1, 70 + process]);
  const startNs = 1_790_000_000_000_000_000n + BigInt(Math.floor(random() * 40)) * hourNs;
  const threads = [7 + process, 900];
  const span = (name: string, own: string, parent: string | null, at: number, length: number): Row => ({
    table: "spans",
    row: {
      id: idOf(own),
      parent_id: parent === null ? null : idOf(parent),
      name,
      start_ns: `#${startNs + BigInt(at) * 60_000_000_000n}#`,
      end_ns: `#${startNs + BigInt(at + length) * 60_000_000_000n}#`,
      pid,
      rank: process % 2,
      thread_id: pick(random, threads),
      attrs: name === "cirron.session" && random() < 0.5 ? { "cirron.run_id": `run-${seed}-${process}` } : {},
      mark_ids: [],
    },
  });
  const name = `p${seed}.${process}`;
  const rows: Row[] = random() < 0.6 ? [span("cirron.session", name, null, 0, 200)] : [];
  for (let epoch = 0; epoch < 2; epoch++) {
    const own = `${name}.e${epoch}`;
    if (random() < 0.8) rows.push(span("epoch", own, name, epoch * 60, 59));
    for (let step = 0; step < 2; step++) {
      rows.push(span("step", `${own}.${step}`, own, epoch * 60 + step, 1));
      rows.push({
        table: "marks",
        row: {
          id: idOf(`m${own}.${step}`),
          span_id: random() < 0.2 ? "root" : idOf(`${own}.${step}`),
          name: "loss",
          value_type: "float",
          value: step + 0.5,
          kind: "point",
          ts_ns: `#${startNs + BigInt(epoch * 60 + step) * 60_000_000_000n}#`,
          attrs: { step },
        },
      });
    }
  }
  return rows;
}

function idOf(text: string): string {
  return Buffer.from(text.padStart(16, "0").slice(-16)).toString("hex");
}

function toBatch(id: string, rows: readonly Row[]): Partial<Input> {
  const of = (table: Row["table"]) => rows.filter((one) => one.table === table).map(({ row }) => row);
  const batch = {
    schema_version: 1,
    sdk_version: "0.3.0",
    batch_id: id,
    created_ns: 1,
    spans: of("spans"),
    marks: of("marks"),
    snapshots: [],
  };
  return { kind: "cirron_batch", body: encoder.encode(JSON.stringify(batch).replaceAll(/"#(\d+)#"/g, "$1")) };
}

function xtrackInputs(random: Random): Partial<Input>[] {
  return ["alpha"].flatMap((run) => {
    const frames = Array.from({ length: 6 }, (_, at) => {
      const head = { seq: at + 1, ts: 1_790_000_000_000_000 + at, wid: pick(random, ["", "w1"]) };
      if (at === 0) return encodeFrame("run_start", head, { run_id: run });
      if (at === 5) return encodeFrame("run_end", head, { run_id: run, status: "completed" });
      return encodeFrame("metric", head, { run_id: run, key: "loss", value: at, step: at });
    });
    const broken = Buffer.concat([Buffer.from([0, 0, 0, 5]), Buffer.from("{bad}")]);
    const sent = [...frames, ...frames.filter(() => random() < 0.4), broken, broken];
    return sent.map((body): Partial<Input> => ({ kind: "xtrack_frames", body }));
  });
}

function semantivaInputs(random: Random): Partial<Input>[] {
  const lines = ["r1"].flatMap((run) =>
    ["pipeline_start", "note", "other"].map((type, seq) =>
      JSON.stringify({
        record_type: type,
        schema_version: 1,
        run_id: run,
        pipeline_id: "p",
        seq,
        timestamp: "2026-11-15T10:00:00Z",
        ...(type === "pipeline_start"
          ? { pipeline_spec_canonical: { version: 1, nodes: [], edges: [] }, meta: {}, run_space_context: { lr: 0.1 } }
          : {}),
      }),
    ),
  );
  const sent = [...lines, ...lines.filter(() => random() < 0.5), "{broken", "{broken"];
  return sent.map((line): Partial<Input> => ({ kind: "semantiva_lines", body: encoder.encode(`${line}\n`) }));
}

function logInputs(random: Random): Partial<Input>[] {
  const lines = Array.from({ length: 3 }, (_, at) => ({ at: at * 10, text: `line ${at}\n` }));
  const sent = [...lines, ...lines.filter(() => random() < 0.5)];
  return sent.map(
    ({ at, text }): Partial<LogLinesInput> => ({
      kind: "log_lines",
      wrapperId: "wrap",
      stream: "stdout",
      offset: at,
      printedNs: "1790000000000000000",
      body: encoder.encode(text),
    }),
  );
}
