// Copy-ready lines for each client, with this server's own address in them.

import type { SessionAnswer } from "#api/contract/admin.ts";

export interface Recipe {
  readonly name: string;
  readonly about: string;
  readonly steps: readonly { readonly says: string; readonly line: string }[];
}

export function toRecipes(session: SessionAnswer | undefined, origin: string): readonly [Recipe, ...Recipe[]] {
  const http = session?.http ?? origin;
  const host = session?.xtrack?.host ?? "127.0.0.1";
  const port = session?.xtrack?.port ?? 9999;
  const own = (words: string) => toOwnCommand(session, origin, words);
  return [
    {
      name: "any program",
      about:
        "Runs it under capture: its output as logs, its exit code as status, and whatever of Cirron, Semantiva and XTrack it emits.",
      steps: [{ says: "run it through tributary", line: own("run -- python train.py") }],
    },
    {
      name: "XTrack",
      about: "Metrics, params, logs, checkpoints, control.",
      steps: [
        {
          says: "point the emitter here",
          line: `XTRACK_TRANSPORT=tcp XTRACK_HOST=${host} XTRACK_PORT=${port} python train.py`,
        },
        { says: "or send a recorded file", line: own("import xtrack_events.bin") },
      ],
    },
    {
      name: "Cirron",
      about: "Spans with GPU time, marks, tensor snapshots.",
      steps: [
        { says: "send while it runs", line: `CIRRON_API_ENDPOINT=${http} CIRRON_API_KEY=any python train.py` },
        { says: "and take in the spool, which holds what the SDK never posts", line: own("import .cirron") },
      ],
    },
    {
      name: "Semantiva",
      about: "Pipelines and run spaces: nodes, checks, context, sweeps.",
      steps: [
        { says: "follow a trace folder", line: own("import --follow ./traces") },
        { says: "or post a file", line: `curl --data-binary @trace.ser.jsonl ${http}/v1/trace-stream` },
      ],
    },
    {
      name: "OpenTelemetry",
      about: "Traces, metrics and logs of any SDK: NeMo, Megatron, vLLM, LLM clients.",
      steps: [
        {
          says: "send over HTTP, as the run my-run",
          line: `OTEL_RESOURCE_ATTRIBUTES=tributary.run.id=my-run OTEL_EXPORTER_OTLP_ENDPOINT=${http} OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf opentelemetry-instrument python train.py`,
        },
        { says: "or read what a collector wrote to a file", line: own("import otel.jsonl") },
      ],
    },
    {
      name: "Node",
      about: "Cirron, Semantiva and XTrack from TypeScript.",
      steps: [
        { says: "pack the SDK in a checkout", line: "npm pack" },
        { says: "and install it in your project", line: "npm install ../tributary/tributary-ml-*.tgz" },
      ],
    },
  ];
}

/** Where the command line looks without being told. */
const usualServer = "http://127.0.0.1:7077";

/** The command line as it is typed for this server: by this installation, with this server's address. `words` begin with the command: `import ./traces`. */
export function toOwnCommand(session: SessionAnswer | undefined, origin: string, words: string): string {
  const [command = "", ...rest] = words.split(" ");
  const http = session?.http ?? origin;
  const server = http === usualServer ? [] : ["--server", http];
  return [session?.command ?? "tributary", command, ...server, ...rest].join(" ");
}
