import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { isInnerAddress, post, toAddresses, Unreachable } from "./reach.ts";

const strict = { isPrivateAllowed: false, hosts: [] };

test.each([
  "127.0.0.1",
  "10.1.2.3",
  "172.31.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "0.0.0.0",
  "::1",
  "::",
  "fe80::1",
  "fd00::1",
  "::ffff:127.0.0.1",
  "64:ff9b::7f00:1",
])("%s is an internal address", (address) => {
  expect(isInnerAddress(address)).toBe(true);
});

test.each(["93.184.216.34", "2606:2800:220:1::1", "172.32.0.1"])("%s is not", (address) => {
  expect(isInnerAddress(address)).toBe(false);
});

test("an internal host is refused however it is written, unless the operator allows it", async () => {
  for (const host of ["127.0.0.1", "localhost", "[::1]"])
    await expect(toAddresses(host, strict)).rejects.toThrow(Unreachable);
  // The parser of URLs turns other ways to write an address into this one.
  expect(new URL("http://2130706433/").hostname).toBe("127.0.0.1");
  expect(await toAddresses("localhost", { isPrivateAllowed: false, hosts: ["localhost"] })).not.toEqual([]);
  expect(await toAddresses("127.0.0.1", { isPrivateAllowed: true, hosts: [] })).toHaveLength(1);
});

test("nothing is sent to a refused host, and a redirect is not followed", async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const message = { url, body: "{}", headers: {}, timeoutMs: 5000 };
  await expect(post(message, strict)).rejects.toThrow(Unreachable);
  expect(requests).toBe(0);
  expect(await post(message, { isPrivateAllowed: true, hosts: [] })).toMatchObject({ status: 302 });
  expect(requests).toBe(1);
  server.close();
});
