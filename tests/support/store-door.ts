// An engine's private socket, made reachable by URL through a door that reads what passes: statements can be refused as a
// cluster refuses them, or left without an answer.

import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The ClickHouse error that a statement gets, "hang" when it goes nowhere, "mute" when only its answer does, null to let it pass. */
export type Verdict = number | "hang" | "mute" | null;

export interface StoreDoor {
  readonly url: string;
  /** The statements that passed or were refused, as their texts begin. */
  readonly seen: string[];
  /** From now on, what becomes of a statement. */
  judge(how: (statement: string) => Verdict): void;
  close(): Promise<void>;
}

export async function openStoreDoor(socketPath: string, port = 0): Promise<StoreDoor> {
  let judge: (statement: string) => Verdict = () => null;
  const seen: string[] = [];
  const server = createServer((from, to) => {
    pass(from, to, socketPath, (statement) => {
      seen.push(statement);
      return judge(statement);
    }).catch(() => to.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    judge(how) {
      judge = how;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function pass(
  from: IncomingMessage,
  to: ServerResponse,
  socketPath: string,
  judge: (statement: string) => Verdict,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of from as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const query = new URL(from.url ?? "/", "http://door").searchParams.get("query");
  const verdict = judge((query ?? body.toString("utf8")).trimStart().slice(0, 200));
  if (verdict === "hang") return;
  if (typeof verdict === "number") {
    to.writeHead(500, { "x-clickhouse-exception-code": String(verdict) }).end(
      `Code: ${verdict}. DB::Exception: refused`,
    );
    return;
  }
  const { method, url, headers } = from;
  const onwards = request({ socketPath, method, path: url, headers }, (answer) => {
    if (verdict === "mute") {
      answer.resume();
      return;
    }
    to.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on("error", () => to.destroy());
    answer.on("end", () => {
      to.addTrailers(answer.trailers as Record<string, string>);
    });
    answer.pipe(to);
  });
  onwards.on("error", () => to.destroy());
  if (verdict !== "mute") to.on("close", () => onwards.destroy());
  onwards.end(body);
}
