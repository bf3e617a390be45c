import { createServer } from "node:net";
import { expect, it } from "vitest";
import { findPortOwner } from "./port-owner.ts";

it.runIf(process.platform === "linux")(
  "names the process that listens on a port, and nobody on a free one",
  async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    expect(findPortOwner(port)).toMatchObject({ pid: process.pid, command: expect.stringContaining("node") });
    await new Promise((resolve) => server.close(resolve));
    expect(findPortOwner(port)).toBeUndefined();
  },
);
