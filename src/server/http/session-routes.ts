// Logging a browser in and out, and the keys themselves.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { BodyOf, ParamsOf } from "#api/contract/routes.ts";
import type { Caller } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { version } from "#base/version.ts";
import type { Address } from "#config/kinds.ts";
import { type Access, scopesOf } from "./access.ts";
import { addRoute } from "./add-route.ts";
import { createKeySecret, findKey, hashKey } from "./keys.ts";
import { findLogin, formatCookie, formatLogin, loginCookie, readCookie } from "./login.ts";
import { LoginThrottle } from "./login-throttle.ts";
import { readOwnCommand } from "./own-command.ts";
import type { StoredKey } from "./ports.ts";
import type { ServerOptions } from "./server-options.ts";

export function addSessionRoutes(app: FastifyInstance, options: ServerOptions, access: Access): void {
  const { keys, loginSecret, loggedOut, xtrack } = options;
  const { loginAgeMs } = options.config;
  const toSession = (request: FastifyRequest, caller: SessionCaller) => sessionOf(request, caller, access, xtrack());
  const throttle = new LoginThrottle();

  addRoute(app, "session", (request) => toSession(request, request.caller));

  addRoute(app, "login", (request, reply) => {
    const { key: secret } = request.body as BodyOf<"login">;
    const { address } = request.sender;
    const waitMs = throttle.waitMs(address, performance.now());
    if (waitMs > 0) throw refuseThrottled(waitMs);
    const key = findKey(hashKey(secret), keys.list());
    if (!key) {
      throttle.noteWrong(address, performance.now());
      throw new Refusal("key_wrong", "This key is unknown or was revoked.", { at: { part: "body" } });
    }
    throttle.noteRight(address);
    const value = formatLogin(key, Date.now() + loginAgeMs, loginSecret);
    reply.header("set-cookie", formatCookie(value, Math.floor(loginAgeMs / 1000), request.protocol === "https"));
    return toSession(request, { workspace: key.workspace, scopes: scopesOf(key) });
  });

  addRoute(app, "logout", (request, reply) => {
    const login = readCookie(request.headers.cookie, loginCookie);
    const counts = login !== undefined && findLogin(login, keys.list(), Date.now(), loginSecret) !== undefined;
    if (counts) loggedOut.add(login);
    reply.header("set-cookie", formatCookie("", 0, request.protocol === "https"));
    return { done: true };
  });

  addRoute(app, "keys", ({ caller }) => {
    return {
      keys: keys
        .list()
        .filter((key) => key.workspace === caller.workspace || isHost(caller))
        .map(toInfo),
    };
  });

  addRoute(app, "createKey", async ({ body, caller }, reply) => {
    const { name, scopes, workspace = caller.workspace } = body as BodyOf<"createKey">;
    if (workspace !== caller.workspace && !isHost(caller)) throw refuseWorkspace();
    const { id, secret, sha256 } = createKeySecret();
    const createdNs = BigInt(Date.now()) * 1_000_000n;
    const key: StoredKey = { id, name, workspace, scopes, createdNs, lastUsedNs: null, sha256 };
    await keys.add(key, caller.name);
    reply.code(201);
    return { ...toInfo(key), key: secret };
  });

  addRoute(app, "deleteKey", async ({ params, caller }) => {
    const { key: id } = params as ParamsOf<"deleteKey">;
    const key = keys.list().find((one) => one.id === id);
    const seen = key && (key.workspace === caller.workspace || isHost(caller));
    if (!seen || !(await keys.revoke(id, caller.name))) {
      throw new Refusal("key_not_found", `There is no key with the id ${JSON.stringify(id)}.`);
    }
    return { done: true };
  });
}

/** A caller on the machine itself, who could read the data folder anyway, sees every workspace. */
function isHost(caller: Caller): boolean {
  return caller.keyId === null;
}

function refuseThrottled(waitMs: number): Refusal {
  return new Refusal("login_throttled", "Too many wrong keys from this address.", {
    hint: "Wait a minute, then try again.",
    headers: { "retry-after": String(Math.ceil(waitMs / 1000)) },
  });
}

function refuseWorkspace(): Refusal {
  return new Refusal("workspace_foreign", "A key can create keys only for its own workspace.", {
    hint: "Make it on the server's machine: tributary keys create --workspace NAME",
    at: { part: "body", name: "workspace" },
  });
}

function toInfo({ id, name, workspace, scopes, createdNs, lastUsedNs }: StoredKey) {
  return {
    id,
    name,
    workspace,
    scopes: [...scopes],
    created_ns: String(createdNs),
    last_used_ns: lastUsedNs === null ? null : String(lastUsedNs),
  };
}

/** A server that listens on all addresses is reached at the host of this request. */
function reachable(host: string, asked: string): string {
  return host === "0.0.0.0" || host === "::" ? asked : host;
}

const ownCommand = readOwnCommand();

type SessionCaller = Pick<Caller, "workspace" | "scopes">;

function sessionOf(request: FastifyRequest, caller: SessionCaller, access: Access, xtrack: Address | null) {
  const known = caller.scopes.size > 0;
  return {
    workspace: known ? caller.workspace : "",
    scopes: [...caller.scopes],
    key_needed: access.needsKey(request.sender),
    version,
    http: `${request.protocol}://${request.host}`,
    xtrack: known && xtrack !== null ? { ...xtrack, host: reachable(xtrack.host, request.hostname) } : null,
    command: known ? ownCommand : "tributary",
  };
}
