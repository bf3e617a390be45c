// Requests to the outside. A rule's webhook is an address that somebody typed: it must not become a way to reach what
// only this machine can reach. The name is looked up once, every address it has is checked, and the connection goes to
// one of these, so that a name cannot mean something else a moment later. Redirects are not followed.

import { lookup as lookUp } from "node:dns/promises";
import { request as requestHttps } from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { requestHttp } from "#base/node-http.ts";

export interface Reach {
  /** Whether private addresses may be reached. */
  readonly isPrivateAllowed: boolean;
  /** Hosts that may be reached whatever their address. */
  readonly hosts: readonly string[];
}

/** The address is internal, and the operator has not allowed it. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

const inner = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  inner.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [
  ["::", 127],
  ["64:ff9b::", 96],
  ["100::", 64],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  inner.addSubnet(net, prefix, "ipv6");

/** Loopback, private, link-local, shared and the like; an IPv4 address inside an IPv6 one counts as itself. */
export function isInnerAddress(address: string): boolean {
  return inner.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** The addresses of a host that may be reached; throws an Unreachable when one of them may not. */
export async function toAddresses(host: string, reach: Reach): Promise<{ address: string; family: number }[]> {
  const name = host.replace(/^\[|\]$/g, "");
  const found = isIP(name) === 0 ? await lookUp(name, { all: true }) : [{ address: name, family: isIP(name) }];
  const isAllowed = reach.isPrivateAllowed || reach.hosts.includes(name.toLowerCase());
  if (!isAllowed && found.some(({ address }) => isInnerAddress(address)))
    throw new Unreachable(`${name} is an internal address; watch.hosts or watch.private in the settings can allow it.`);
  return found;
}

/** A DNS lookup that returns only addresses that were checked. */
export function toLookup(addresses: readonly { address: string; family: number }[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses;
    if (options.all === true) done(null, [...addresses]);
    else done(null, first?.address ?? "", first?.family);
  };
}

export interface Post {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const answerBytesMax = 1024;

/** The status, and the beginning of the answer. */
export async function post(
  { url, body, headers, timeoutMs }: Post,
  reach: Reach,
): Promise<{ status: number; text: string }> {
  const { protocol, hostname } = new URL(url);
  const lookup = toLookup(await toAddresses(hostname, reach));
  const send = protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const options = { method: "POST", headers, lookup, signal: AbortSignal.timeout(timeoutMs) };
    const request = send(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        if (text.length < answerBytesMax) text += chunk.slice(0, answerBytesMax - text.length);
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}
