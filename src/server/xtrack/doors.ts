// All the ways in for XTrack workers that stay connected: TCP, Unix socket, WebSocket.

import { shareMemory } from "#config/memory-shares.ts";
import type { Config } from "#config/settings.ts";
import { xtrackFacts } from "#protocol/xtrack/facts.ts";
import type { Access } from "#server/http/access.ts";
import { mayUse } from "#server/http/access.ts";
import { isLoopback } from "#server/http/addresses.ts";
import type { UnfinishedBytes } from "#server/unfinished-bytes.ts";
import {
  type ConnectionCounters,
  type ConnectionInfo,
  type ConnectionPorts,
  type ConnectionRules,
  createConnectionCounters,
} from "./connection.ts";
import { IntakeSink } from "./intake-sink.ts";
import { outgoingLimitsDefault } from "./outgoing.ts";
import type { CommandDesk, Gate, IntakeCounters, IntakeSinkOptions } from "./ports.ts";
import type { PresenceBook } from "./presence.ts";
import { createSocketServer, type ListenAddress, type SocketServer } from "./sockets.ts";
import { createWebSocketDoor, type WebSocketDoor } from "./web-socket.ts";

export type XtrackSettings = Pick<
  Config,
  | "xtrackAddress"
  | "xtrackUnixPath"
  | "xtrackAcks"
  | "xtrackConnectionsMax"
  | "firstFrameTimeoutMs"
  | "frameBytesMax"
  | "memoryBudgetBytes"
>;

export interface XtrackDoorsOptions {
  readonly config: XtrackSettings;
  readonly access: Pick<Access, "identifyKey" | "owner">;
  readonly intake: Pick<IntakeSinkOptions, "submit" | "hasRoom" | "runOf" | "isFollowed" | "nowNs">;
  readonly desk: CommandDesk;
  readonly unfinished: UnfinishedBytes;
  readonly onRefused?: ConnectionPorts["onRefused"];
  readonly watchSource?: ConnectionPorts["watchSource"];
}

export interface XtrackDoors {
  readonly protocol: string;
  /** Where workers can connect, with the real port if 0 was asked for. */
  readonly addresses: readonly ListenAddress[];
  readonly webSocket: WebSocketDoor;
  readonly presence: Pick<PresenceBook, "workersOf" | "count" | "all">;
  readonly connections: Readonly<ConnectionCounters>;
  readonly records: Readonly<IntakeCounters>;
  list(): ConnectionInfo[];
  /** Stops accepting, makes durable what came, closes what is open. */
  close(): Promise<void>;
}

/** A worker with acks is not read while it has more than this pending. */
const pendingBytesMax = 4 * 1024 * 1024;

export async function openXtrackDoors(options: XtrackDoorsOptions): Promise<XtrackDoors> {
  const { config, access, intake, desk, unfinished, onRefused, watchSource } = options;
  const { frameBytesMax, memoryBudgetBytes } = config;
  const { framesBytes: heldBytesMax } = shareMemory(memoryBudgetBytes);
  // Workers are no longer read well before anything is lost.
  const gatheredBytesMax = heldBytesMax * 0.75;
  const sink = new IntakeSink({ ...intake, unfinished, frameBytesMax, gatheredBytesMax, heldBytesMax });
  const counters = createConnectionCounters();
  const rules: ConnectionRules = {
    acks: config.xtrackAcks,
    firstFrameTimeoutMs: config.firstFrameTimeoutMs,
    pendingBytesMax,
    outgoing: outgoingLimitsDefault,
  };
  const nowUs = () => Math.round(Number(intake.nowNs()) / 1000);
  const ports = { sink, gate: toGate(access), desk, nowUs, onRefused, watchSource };
  const webSocket = createWebSocketDoor({ rules, ports, counters });
  const servers: SocketServer[] = [];
  const close = async (): Promise<void> => {
    await Promise.all([...servers.map((server) => server.close()), webSocket.close()]);
    sink.close();
  };
  try {
    for (const listen of toListen(config)) {
      const connectionsMax = config.xtrackConnectionsMax;
      servers.push(await createSocketServer({ listen, connectionsMax, rules, ports, counters }));
    }
  } catch (cause) {
    await close();
    throw cause;
  }
  const addresses = servers.map(({ address }) => address);
  const list = (): ConnectionInfo[] => [...servers.flatMap((server) => server.list()), ...webSocket.list()];
  const { presence, counters: records } = sink;
  const protocol = xtrackFacts.name;
  return { protocol, addresses, list, webSocket, presence, connections: counters, records, close };
}

function toListen({ xtrackAddress, xtrackUnixPath }: XtrackSettings): ListenAddress[] {
  const listen: ListenAddress[] = [];
  if (xtrackAddress !== "off") listen.push(xtrackAddress);
  if (xtrackUnixPath !== "") listen.push({ path: xtrackUnixPath });
  return listen;
}

function toGate(access: Pick<Access, "identifyKey" | "owner">): Gate {
  return {
    admit(key, address, transport) {
      // Only the owner of the data folder can open the Unix socket, so opening it counts as a key.
      const isOwner = transport === "unix" && key === "";
      const caller = isOwner ? access.owner() : access.identifyKey(key, { address, isLocal: isLoopback(address) });
      if (caller instanceof Error || !mayUse(caller, "ingest")) return null;
      return { workspace: caller.workspace, source: caller.source };
    },
  };
}
