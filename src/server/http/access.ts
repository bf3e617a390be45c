// Who a request comes from, and what it may do.
//
//   a key in the header    valid: that key · the owner's secret, from this machine: everything
//                          wrong: 401, or from this machine while no key exists: everything
//   a login cookie         the key it names
//   neither                from this machine while no key exists, or with `auth.loopback = open`: everything; else 401

import { Scope } from "#api/contract/admin.ts";
import type { RouteScope } from "#api/contract/paths.ts";
import { wordsOf } from "#api/contract/scalar.ts";
import type { Caller } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import type { Config } from "#config/settings.ts";
import type { Sender } from "./client-address.ts";
import { createUseNotes, findKey, hashKey, isSameHash } from "./keys.ts";
import { findLogin, loginCookie, readCookie } from "./login.ts";
import type { StoredKey } from "./ports.ts";
import type { ServerOptions } from "./server-options.ts";

export interface Approach {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly sender: Sender;
}

export interface Access {
  /** The caller, or why the request is refused. */
  identify(approach: Approach): Caller | Refusal;
  /** The same for a key that came another way, such as XTrack's first line; '' for none. */
  identifyKey(secret: string, sender: Sender): Caller | Refusal;
  /** Someone who has proved to own the data folder. */
  owner(): Caller;
  /** Whether this sender needs a key. */
  needsKey(sender: Sender): boolean;
}

const everyScope: ReadonlySet<Scope> = new Set(wordsOf(Scope));

/** What a key may do. */
export function scopesOf({ scopes }: Pick<StoredKey, "scopes">): ReadonlySet<Scope> {
  return scopes.includes("admin") ? everyScope : new Set(scopes);
}

export function createAccess(
  {
    keys,
    loginSecret,
    loggedOut,
    ownerSecret,
  }: Pick<ServerOptions, "keys" | "loginSecret" | "loggedOut" | "ownerSecret">,
  { authLoopback, workspace }: Pick<Config, "authLoopback" | "workspace">,
): Access {
  const noteUse = createUseNotes(keys);
  const ownerHash = ownerSecret === "" ? null : hashKey(ownerSecret);

  const needsKey = ({ isLocal }: Sender) => !isLocal || (keys.list().length > 0 && authLoopback === "key");

  const toCaller = (key: StoredKey): Caller => {
    noteUse(key, Date.now());
    return {
      workspace: key.workspace,
      scopes: scopesOf(key),
      isOfServer: key.workspace === workspace,
      name: key.name,
      keyId: key.id,
      source: `key:${key.id}`,
    };
  };

  const toLocal = (source: string): Caller => {
    return { workspace, scopes: everyScope, isOfServer: true, name: "local", keyId: null, source };
  };

  const identifyKey = (secret: string, sender: Sender): Caller | Refusal => {
    const all = keys.list();
    if (secret === "") return needsKey(sender) ? refuseMissing() : toLocal(`address:${sender.address}`);
    const sha256 = hashKey(secret);
    const key = findKey(sha256, all);
    if (key) return toCaller(key);
    if (sender.isLocal && ownerHash !== null && isSameHash(sha256, ownerHash)) return toLocal("owner");
    // Clients often send some key. While no keys exist, it only tells senders apart.
    return all.length === 0 && sender.isLocal ? toLocal(`bearer:${sha256.slice(0, 16)}`) : refuseWrong();
  };

  return {
    needsKey,
    identifyKey,
    owner: () => toLocal("owner"),
    identify({ authorization, cookie, sender }) {
      if (authorization !== undefined) {
        const secret = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
        return secret === undefined ? refuseWrong() : identifyKey(secret, sender);
      }
      const login = readCookie(cookie, loginCookie);
      const counts = login !== undefined && !loggedOut.has(login);
      const key = counts ? findLogin(login, keys.list(), Date.now(), loginSecret) : undefined;
      return key ? toCaller(key) : identifyKey("", sender);
    },
  };
}

export function mayUse({ scopes, isOfServer }: Caller, scope: RouteScope): boolean {
  if (scope === "server") return scopes.has("admin") && isOfServer;
  return scope === "open" || scopes.has(scope);
}

export function refuseScope({ scopes }: Caller, scope: RouteScope): Refusal {
  if (scope === "server" && scopes.has("admin"))
    return new Refusal("workspace_foreign", "This concerns all workspaces, and the key belongs to one.", {
      hint: "Use an admin key of the server's own workspace, or ask on the server's machine.",
      at: { part: "header", name: "authorization" },
    });
  const wanted = scope === "server" ? "admin" : scope;
  return new Refusal("scope_missing", `This key lacks the scope "${wanted}".`, {
    hint: `Use a key with that scope: tributary keys create --scope ${wanted}`,
    at: { part: "header", name: "authorization" },
  });
}

function refuseWrong(): Refusal {
  return new Refusal("key_wrong", "This key is unknown or was revoked.", {
    hint: "Send `Authorization: Bearer <key>`; `tributary keys` lists the existing keys.",
    at: { part: "header", name: "authorization" },
    headers: { "www-authenticate": "Bearer" },
  });
}

function refuseMissing(): Refusal {
  return new Refusal("key_missing", "This server needs a key.", {
    hint: "Send `Authorization: Bearer <key>`, or log in; `tributary keys create` creates a key.",
    at: { part: "header", name: "authorization" },
    headers: { "www-authenticate": "Bearer" },
  });
}
