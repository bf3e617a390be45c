// Where a request comes from: the peer of its socket, or, behind trusted proxies, the address that they name.
//
// An address that stands in a header is never this machine's own: whoever can reach a proxy can write one. So only a
// request that comes straight from loopback, and that no proxy says it has passed on, is local.

import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP } from "node:net";
import { isLoopback } from "./addresses.ts";

export interface Sender {
  /** '' when a proxy hides it. */
  readonly address: string;
  /** On this machine, with nobody in between. */
  readonly isLocal: boolean;
}

/** What proxies add. A client may add them too: that only takes away that it is local. */
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

/** What of a request tells where it comes from, by whichever protocol it came. */
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

/** The addresses that proxies have seen, the client's first. */
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

/** At commas that stand in no quotes. */
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
