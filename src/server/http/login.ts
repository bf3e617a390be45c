// A browser's login: a cookie that names a key and an end, sealed so that only this server can have written it.
//
// Cookie value: `<key id>.<end, ms since the epoch>.<HMAC-SHA-256, base64url>`. The HMAC also covers the key's stored
// hash, so revoking a key ends its logins. Nothing is kept on the server, so a login survives a restart.

import { createHmac, timingSafeEqual } from "node:crypto";
import type { StoredKey } from "./ports.ts";

export const loginCookie = "tributary_login";

export function formatLogin(key: StoredKey, endMs: number, secret: Uint8Array): string {
  const claim = `${key.id}.${endMs}`;
  return `${claim}.${seal(claim, key, secret).toString("base64url")}`;
}

/** The key that a cookie's value stands for, or undefined when it is forged, over, or of a revoked key. */
export function findLogin(
  value: string,
  keys: readonly StoredKey[],
  nowMs: number,
  secret: Uint8Array,
): StoredKey | undefined {
  const match = /^([0-9a-zA-Z_-]{1,64})\.(\d{1,16})\.([\w-]{43})$/.exec(value);
  const key = keys.find((one) => one.id === match?.[1]);
  if (!match || !key || Number(match[2]) <= nowMs) return undefined;
  const given = Buffer.from(match[3] ?? "", "base64url");
  const expected = seal(`${match[1]}.${match[2]}`, key, secret);
  return given.length === expected.length && timingSafeEqual(given, expected) ? key : undefined;
}

function seal(claim: string, key: StoredKey, secret: Uint8Array): Buffer {
  return createHmac("sha256", secret).update(`${claim}.${key.sha256}`).digest();
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** The Set-Cookie value; an empty value with age 0 takes the cookie away. */
export function formatCookie(value: string, ageS: number, secure: boolean): string {
  const parts = [`${loginCookie}=${value}`, "Path=/", "HttpOnly", "SameSite=Strict", `Max-Age=${ageS}`];
  return [...parts, ...(secure ? ["Secure"] : [])].join("; ");
}
