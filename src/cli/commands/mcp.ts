// tributary mcp: the tools of agents over standard input and output.

import { once } from "node:events";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { Command } from "commander";
import type { AgentApi } from "#agent/agent-api.ts";
import { readEvents } from "#api/server-events.ts";
import { ApiError, type Client } from "#cli/client.ts";
import { type ConnectOptions, withClient } from "#cli/connect.ts";
import type { Context } from "#cli/context.ts";
import { Exit } from "#cli/exit.ts";
import { AnsweringTransport } from "#cli/mcp-transport.ts";
import { addConnectOptions } from "#cli/options.ts";

export function addMcp(program: Command, context: Context): void {
  const command = program
    .command("mcp")
    .summary("serve agents over standard input and output")
    .description(
      "Speaks the Model Context Protocol over standard input and output, with the tools of POST /mcp, for agents that " +
        "start their servers themselves. What they may do is what the key may do. Ends when its input ends.",
    )
    .addHelpText("after", "\nExample:\n  tributary mcp --server http://127.0.0.1:7077\n");
  addConnectOptions(command).action((options: ConnectOptions) =>
    withClient(context, options, async (client) => {
      const { scopes } = await client.call("session", {});
      await serve(context, toAgentApi(client, new Set(scopes)));
    }),
  );
}

async function serve(context: Context, api: AgentApi): Promise<void> {
  // Only this command pays for loading what speaks the protocol.
  const [{ createMcpServer }, { serveStdio, StdioServerTransport }] = await Promise.all([
    import("#agent/mcp-server.ts"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const stdin = context.stdin as unknown as Readable;
  const ended = once(stdin, "end", { signal: context.stop }).catch(() => undefined);
  const onBug = (error: unknown) => context.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  // A transport closes with its input, without answering what is pending. So its input is one that never ends by itself.
  const input = stdin.pipe(new PassThrough(), { end: false });
  const transport = new AnsweringTransport(new StdioServerTransport(input, context.stdout as unknown as Writable));
  const served = serveStdio(() => createMcpServer(api, onBug), { transport, onerror: onBug });
  await ended;
  // Lets the last input be read first.
  await setImmediate();
  if (!context.stop.aborted) await transport.answered(answerMsMax);
  await served.close();
}

/** After the input is closed, pending questions get limited time: one may wait for something to happen. */
const answerMsMax = 10_000;

function toAgentApi(client: Client, scopes: AgentApi["scopes"]): AgentApi {
  return {
    scopes,
    call: client.call,
    async *follow(run, after, signal) {
      yield* readEvents(await client.open("live", { query: { run: [run], after } }, { signal }));
    },
    explain(error) {
      if (error instanceof ApiError) return error.answer;
      return error instanceof Exit ? { code: "outage", message: error.message, hint: error.hint } : null;
    },
  };
}
