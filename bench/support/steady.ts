// Full speed for minutes: what the server's memory is at its height, and what is left of it a minute after the last
// record. The load is made while it is sent, because minutes of it would not fit in memory.

import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { createCirronCopies } from "./cirron-load.ts";
import { postAll } from "./post.ts";
import { askSql, type BenchServer, startServer, whole } from "./server.ts";
import { createXtrackLoad } from "./xtrack-load.ts";
import { openSocket } from "./xtrack-socket.ts";

const restMs = 60_000;
const connections = 4;
const eventsPerPass = 100_000;

/** `send` goes on until its deadline and answers with how many records it sent. */
type Send = (server: BenchServer, untilMs: number) => Promise<number>;

export async function measureSteady(seconds: number): Promise<string[]> {
  return [
    "## Memory at full speed",
    "",
    `${connections} connections that send for ${seconds} s as fast as they are taken, then nothing for ${restMs / 1000} s.`,
    "",
    "| | sent | lost | a second until queryable | server MiB: highest · afterwards | engine MiB: highest · afterwards |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    await measureOne("XTrack events", "metrics", seconds, sendXtrack),
    await measureOne("Cirron spans", "spans", seconds, sendCirron),
  ];
}

async function measureOne(name: string, table: string, seconds: number, send: Send): Promise<string> {
  const server = await startServer();
  const began = performance.now();
  const sent = await send(server, began + seconds * 1000);
  await server.drained();
  const tookS = (performance.now() - began) / 1000;
  const stored = Number((await askSql(server, `SELECT count() FROM ${table}`))[0]?.[0]);
  await wait(restMs);
  const { server: node, engine } = await server.usage();
  await server.close();
  const memory = [node, engine].map((usage) => `${usage.peakMiB} · ${usage.nowMiB}`);
  return `| ${[name, whole(sent), whole(sent - stored), whole(stored / tookS), ...memory].join(" | ")} |`;
}

/** Each connection sends the same events again and again, each pass as a run of its own. */
async function sendXtrack(server: BenchServer, untilMs: number): Promise<number> {
  const counts = await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      const name = (pass: number): string => `steady-${connection}-${String(pass).padStart(6, "0")}`;
      const chunks = createXtrackLoad(name(0), 1, eventsPerPass, 0).streams[0] as Buffer[];
      const places = chunks.map((chunk) => findAll(chunk, name(0)));
      let sent = 0;
      for (let pass = 0; performance.now() < untilMs; pass++) {
        const socket = await openSocket(server.xtrackPort);
        for (const [at, chunk] of chunks.entries()) {
          // The socket keeps what the kernel has not taken yet, so a chunk is rewritten only after its callback.
          for (const place of places[at] as number[]) chunk.write(name(pass), place, "latin1");
          await new Promise((resolve) => socket.write(chunk, resolve));
        }
        socket.end();
        await once(socket, "close");
        sent += eventsPerPass;
      }
      return sent;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

function findAll(chunk: Buffer, text: string): number[] {
  const places: number[] = [];
  for (let at = chunk.indexOf(text); at !== -1; at = chunk.indexOf(text, at + text.length)) places.push(at);
  return places;
}

async function sendCirron(server: BenchServer, untilMs: number): Promise<number> {
  let sent = 0;
  const bodies = createCirronCopies().map(({ body, spans }) => {
    sent += spans;
    return body;
  });
  const { refused } = await postAll(server.url, bodies, { connections, timeoutMs: untilMs - performance.now() });
  if (refused > 0) throw new Error(`${refused} batches were refused`);
  return sent;
}
