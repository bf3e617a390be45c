// Where a request comes from: the peer of its socket, or, behind trusted proxies, the address that they name.
//
// An address in a header never counts as this machine's own, because whoever can reach a proxy can write one. So a
// request is local only if it comes straight from loopback and no proxy claims to have passed it on.

import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP } from "node:net";
import { isLoopback } from "./addresses.ts";

export interface Sender {
  /** '' when a proxy hides it. */
  readonly address: string;
  /** Sent on this machine, with no proxy in between. */
  readonly isLocal: boolean;
}

/** Headers that proxies add. A client may add them too; then it is not local. */
const proxyHeaders = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
] as const;

/** What tells where a request comes from, in any protocol. */
interface Sent {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingHttpHeaders;
}

/** `trusted`: addresses and networks of proxies, as in `http.trusted_proxies`. */
export function createSenderOf(trusted: readonly string[]): (request: Sent) => Sender {
  const proxies = toBlockList(trusted);
  return ({ socket, headers }) => {
    const peer = socket.remoteAddress ?? "";
    const isPassedOn = proxyHeaders.some((name) => headers[name] !== undefined);
    if (!isPassedOn) return { address: peer, isLocal: isLoopback(peer) };
    const hops = readHops(headers);
    let address = peer;
    for (let hop = hops.length - 1; hop >= 0 && isAmong(proxies, address); hop--) address = hops[hop] as string;
    return { address, isLocal: false };
  };
}

/** The addresses that the proxies saw, the client's first. */
function readHops(headers: IncomingHttpHeaders): string[] {
  const listed = headers["x-forwarded-for"];
  if (listed !== undefined) return [listed].flat().join(",").split(",").map(toAddress);
  const forwarded = headers.forwarded;
  if (forwarded === undefined) return [];
  return splitForwarded(forwarded).map((element) => {
    const [, quoted, plain] = /(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^;\s]*))/i.exec(element) ?? [];
    return toAddress(quoted ?? plain ?? "");
  });
}

/** Splits at commas outside quotes. */
function splitForwarded(header: string): string[] {
  return header.match(/(?:[^",]|"[^"]*"?)+/g) ?? [];
}

/** Without port and brackets; '' for a name or a word such as `unknown`. */
function toAddress(text: string): string {
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, "$1")
    .replace(/^([\d.]+):\d+$/, "$1");
  return isIP(bare) === 0 ? "" : bare;
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (isIP(address) === 0) continue;
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

function isAmong(list: BlockList, address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 4 ? "ipv4" : "ipv6");
}
