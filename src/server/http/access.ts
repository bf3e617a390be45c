// Who a request comes from, and what it may do.
//
//   a key in the header    valid: that key · wrong: 401, or on loopback while no key exists: anyone
//   a login cookie         the key it names
//   neither                on loopback while no key exists, or with `auth.loopback = open`: anyone; else 401
//
// "On loopback" means that the connection comes from this machine and no proxy says that it speaks for another one.

import type { Scope } from "#api/contract/admin.ts";
import type { RouteScope } from "#api/contract/paths.ts";
import type { Caller } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { isLoopback } from "./addresses.ts";
import { createUseNotes, findKey, hashKey } from "./keys.ts";
import { findLogin, loginCookie, readCookie } from "./login.ts";
import type { KeyStore, StoredKey } from "./ports.ts";

export interface AccessRules {
  readonly keys: KeyStore;
  readonly loginSecret: Uint8Array;
  readonly loopback: "open" | "key";
  readonly workspace: string;
}

export interface Approach {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** The client's address, behind trusted proxies. */
  readonly address: string;
  /** Headers of a proxy that is not trusted: the client may be anywhere. */
  readonly proxied: boolean;
}

export interface Access {
  /** The caller, or why there is none. */
  identify(approach: Approach): Caller | Refusal;
  /** The same for a key that came by another way, such as XTrack's first line; '' for none. */
  identifyKey(secret: string, address: string): Caller | Refusal;
  /** Whether a request from this address needs a key. */
  needsKey(address: string, proxied: boolean): boolean;
}

const everyScope: readonly Scope[] = ["ingest", "read", "control", "admin"];

export function createAccess({ keys, loginSecret, loopback, workspace }: AccessRules): Access {
  const noteUse = createUseNotes(keys);

  const needsKey = (address: string, proxied: boolean) => {
    if (proxied || !isLoopback(address)) return true;
    return keys.list().length > 0 && loopback === "key";
  };

  const toCaller = (key: StoredKey): Caller => {
    noteUse(key, Date.now());
    const scopes = key.scopes.includes("admin") ? everyScope : key.scopes;
    return {
      workspace: key.workspace,
      scopes: new Set(scopes),
      name: key.name,
      keyId: key.id,
      source: `key:${key.id}`,
    };
  };

  const toLocal = (source: string): Caller => {
    return { workspace, scopes: new Set(everyScope), name: "local", keyId: null, source };
  };

  const identifyKey = (secret: string, address: string, proxied = false): Caller | Refusal => {
    const all = keys.list();
    if (secret === "") return needsKey(address, proxied) ? refuseMissing() : toLocal(`address:${address}`);
    const key = findKey(secret, all);
    if (key) return toCaller(key);
    // Clients are set up with some key or other; while there is none to compare with, it only tells them apart.
    const open = all.length === 0 && !proxied && isLoopback(address);
    return open ? toLocal(`bearer:${hashKey(secret).slice(0, 16)}`) : refuseWrong();
  };

  return {
    needsKey,
    identifyKey,
    identify({ authorization, cookie, address, proxied }) {
      if (authorization !== undefined) {
        const secret = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
        return secret === undefined ? refuseWrong() : identifyKey(secret, address, proxied);
      }
      const login = readCookie(cookie, loginCookie);
      const key = login === undefined ? undefined : findLogin(login, keys.list(), Date.now(), loginSecret);
      return key ? toCaller(key) : identifyKey("", address, proxied);
    },
  };
}

export function mayUse(caller: Caller, scope: RouteScope): boolean {
  return scope === "open" || caller.scopes.has(scope);
}

export function refuseScope(scope: RouteScope): Refusal {
  return new Refusal("scope_missing", `This key lacks the scope "${scope}".`, {
    hint: `Use a key with that scope: tributary keys create --scope ${scope}`,
    at: { part: "header", name: "authorization" },
  });
}

function refuseWrong(): Refusal {
  return new Refusal("key_wrong", "This key is not known, or was revoked.", {
    hint: "Send `Authorization: Bearer <key>`; `tributary keys` lists the keys there are.",
    at: { part: "header", name: "authorization" },
    headers: { "www-authenticate": "Bearer" },
  });
}

function refuseMissing(): Refusal {
  return new Refusal("key_missing", "This server wants a key.", {
    hint: "Send `Authorization: Bearer <key>`, or log in; `tributary keys create` makes a key.",
    at: { part: "header", name: "authorization" },
    headers: { "www-authenticate": "Bearer" },
  });
}
