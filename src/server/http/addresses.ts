// Which addresses are this machine's own.

import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");
loopback.addSubnet("::ffff:127.0.0.0", 104, "ipv6");

/** Every request asks twice, nearly always for the same few. */
const known = new Map<string, boolean>();
const knownMax = 1000;

/** True for a loopback address; a name other than localhost is never one, whatever it resolves to. */
export function isLoopback(host: string): boolean {
  let isOne = known.get(host);
  if (isOne === undefined) {
    isOne = checkLoopback(host);
    if (known.size >= knownMax) known.clear();
    known.set(host, isOne);
  }
  return isOne;
}

function checkLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return isLoopbackName(host);
  return loopback.check(host, family === 4 ? "ipv4" : "ipv6");
}

/** localhost, and the names under it that browsers resolve to loopback themselves. */
function isLoopbackName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost");
}

export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** True for an address of one of this machine's network interfaces. */
export function isOwnAddress(host: string): boolean {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.some((one) => one.address === host);
}

/** The host of a Host header or an origin's authority, lower-case, without port and brackets; '' when malformed. */
export function toHostName(authority: string): string {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/.exec(authority.toLowerCase());
  return (match?.[1] ?? match?.[2] ?? "").replace(/\.$/, "");
}
