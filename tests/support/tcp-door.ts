// An engine reached by URL, as a ClickHouse server is.

import { connect } from "node:net";
import { openRelay } from "./relay.ts";

export interface TcpDoor {
  readonly url: string;
  close(): void;
}

/** An engine's private socket, made reachable by URL. */
export async function openTcpDoor(socketPath: string, port = 0): Promise<TcpDoor> {
  const relay = await openRelay(() => connect(socketPath), port);
  return { url: `http://127.0.0.1:${relay.port}`, close: relay.close };
}
