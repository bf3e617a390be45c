import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { eventually } from "../../../tests/support/several.ts";
import type { ConnectionPorts } from "./connection.ts";
import { outgoingLimitsDefault } from "./outgoing.ts";
import { openSmallCollector, type SmallCollector } from "./small-collector.testing.ts";
import { createSocketServer, type SocketServer } from "./sockets.ts";

/** Enough of them for long rounds. */
const workers = 600;
/** Of a worker's events: each is a piece of its own, and several of them fall into a round. */
const apartMs = 60;

let dir: string;
let collector: SmallCollector;
let server: SocketServer;
let sockets: Socket[];
let sent: string[];
let resting: Set<object>;
/** Of each stream that has been woken and has not risen since: the pieces that were read after that. */
let woken: Map<object, number>;
/** Of all rounds for which a stream rested. */
let piecesOfRounds: number[];

/** Notes which streams rest, and what is read of them meanwhile. */
const sink: ConnectionPorts["sink"] = {
  isCrowded: () => collector.sink.isCrowded(),
  openStream(origin, events) {
    const stream = collector.sink.openStream(origin, {
      ...events,
      onRest() {
        const rests = events.onRest();
        if (rests) resting.add(events);
        return rests;
      },
      onWake() {
        const pieces = woken.get(events);
        if (pieces !== undefined) piecesOfRounds.push(pieces);
        // What came before the pause is read out now, and belongs to no round.
        events.onWake();
        woken.set(events, 0);
      },
      onRise() {
        woken.delete(events);
        resting.delete(events);
        events.onRise();
      },
    });
    const push = stream.push.bind(stream);
    stream.push = (chunk) => {
      const pieces = woken.get(events);
      if (pieces !== undefined) woken.set(events, pieces + 1);
      push(chunk);
    };
    return stream;
  },
};

beforeEach(async () => {
  dir = makeFolder();
  collector = await openSmallCollector({ dir: join(dir, "journal") });
  sent = [];
  resting = new Set();
  woken = new Map();
  piecesOfRounds = [];
  server = await createSocketServer({
    listen: { host: "127.0.0.1", port: 0 },
    connectionsMax: 1000,
    // All connect before the first sends, which takes a while on a busy machine.
    rules: {
      acks: "asked",
      firstFrameTimeoutMs: 60_000,
      pendingBytesMax: 1024 * 1024,
      outgoing: outgoingLimitsDefault,
    },
    counters: collector.counters,
    ports: {
      sink,
      gate: { admit: () => ({ workspace: "default", source: "local" }) },
      desk: collector.control,
      nowUs: () => Date.now() * 1000,
    },
  });
  const { port } = server.address as { port: number };
  sockets = Array.from({ length: workers }, () => connect(port, "127.0.0.1"));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
  await collector.close();
});

/** One event of every worker. */
function sendAll(seq: number): void {
  for (const [at, socket] of sockets.entries()) {
    socket.write(encodeFrame("metric", { seq, ts: seq, wid: "w" }, { run_id: `run-${at}`, key: "loss", value: seq }));
    sent.push(`run-${at}#${seq}`);
  }
}

/** Returns the number of the next event. */
async function sendUntilTheyRest(): Promise<number> {
  for (let seq = 1; seq < 1000; seq++) {
    sendAll(seq);
    for (let ms = 0; ms < apartMs; ms += 5) {
      await sleep(5);
      if (resting.size > workers / 2) return seq + 1;
    }
  }
  throw new Error("they do not rest");
}

const stored = async () => (await collector.stored()).map(({ m, p }) => `${p["run_id"]}#${m.seq}`).sort();

describe("workers of a fleet whose sockets rest between rounds", () => {
  it("are read once a round, have all they sent stored once, and are heard to the end", async () => {
    const next = await sendUntilTheyRest();
    for (let seq = next; seq < next + 40; seq++) {
      sendAll(seq);
      await sleep(apartMs);
    }
    expect(piecesOfRounds.length).toBeGreaterThan(workers);
    expect(Math.max(...piecesOfRounds)).toBe(1);
    await Promise.all(sockets.map((socket) => once(socket.resume().end(), "close")));
    expect(collector.endings).toEqual(sockets.map(() => "eof"));
    expect(await stored()).toEqual(sent.toSorted());
  });

  it("are woken though nothing more comes, and are then read at once", async () => {
    const next = await sendUntilTheyRest();
    await eventually(async () => resting.size === 0, "they rest on");
    sendAll(next);
    await eventually(async () => (await stored()).length === sent.length, "the last events are not stored");
  });

  it("lose nothing that came while they rested when the server stops", async () => {
    const next = await sendUntilTheyRest();
    sendAll(next);
    expect(resting.size).toBeGreaterThan(workers / 2);
    await server.close();
    expect(await stored()).toEqual(sent.toSorted());
  });
});
