// A line between two sockets that can be cut.

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface Relay {
  readonly port: number;
  /** Resets every connection; new ones are taken. */
  cut(): void;
  close(): void;
}

/** Each connection to a port of this machine leads to wherever `connectFar` leads then. */
export async function openRelay(connectFar: () => Socket, port = 0): Promise<Relay> {
  const ends = new Set<Socket>();
  const server = createServer((near) => {
    const far = connectFar();
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => ends.delete(from));
    }
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      for (const end of ends) end.resetAndDestroy();
    },
    close() {
      server.close();
      for (const end of ends) end.destroy();
    },
  };
}
