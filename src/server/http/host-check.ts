// Host and Origin: what keeps a web page somewhere else from talking to a server on this machine.
//
// DNS rebinding makes a foreign name resolve to 127.0.0.1, so that the browser takes our answers for that site's own. The
// Host header still holds the foreign name, so only names we know are answered. A cross-site form or fetch carries its
// own site in Origin, so a request that changes something must come from the site it is sent to.

import { Refusal } from "#api/refusal.ts";
import { isLoopback, isOwnAddress, isWildcard, toHostName } from "./addresses.ts";

export interface HostRules {
  /** The host the server is bound to. */
  readonly boundHost: string;
  /** More names, from `http.hosts`. */
  readonly hosts: readonly string[];
}

export function isAllowedHost(header: string | undefined, rules: HostRules): boolean {
  const name = toHostName(header ?? "");
  if (name === "") return false;
  if (isLoopback(name) || name === rules.boundHost.toLowerCase()) return true;
  if (rules.hosts.some((host) => toHostName(host) === name)) return true;
  return isWildcard(rules.boundHost) && isOwnAddress(name);
}

export function refuseHost(header: string | undefined): Refusal {
  return new Refusal("host_not_allowed", `This server does not answer to the host ${JSON.stringify(header ?? "")}.`, {
    hint: "Use its address, add the name to `http.hosts`, or send a valid key.",
    at: { part: "header", name: "host" },
  });
}

/** True when the request comes from no page, or from a page of this very server. */
export function isSameOrigin(origin: string | undefined, site: string | undefined, host: string | undefined): boolean {
  // Browsers that send Sec-Fetch-Site say it themselves; "none" means a typed address or a bookmark.
  if (site !== undefined && site !== "same-origin" && site !== "none") return false;
  if (origin === undefined) return true;
  const authority = /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1];
  return authority !== undefined && authority === host?.toLowerCase();
}

export function refuseOrigin(origin: string | undefined): Refusal {
  return new Refusal("origin_not_allowed", `A page of ${origin ?? "another site"} cannot change anything here.`, {
    hint: "Programs need not send an Origin; a proxy must pass on the Host header.",
    at: { part: "header", name: "origin" },
  });
}
