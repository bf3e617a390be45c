// An engine reached by URL, as a ClickHouse server is.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpDoor {
  readonly url: string;
  close(): void;
}

/** An engine's private socket, made reachable by URL. */
export async function openTcpDoor(socketPath: string, port = 0): Promise<TcpDoor> {
  const ends = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(socketPath);
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
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      for (const end of ends) end.destroy();
    },
  };
}
