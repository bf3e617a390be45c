// The identity of a record that is known by a digest: a line, a fault.

import { createHash } from "node:crypto";
import { idWords } from "./id-map.ts";

const salts = new Map<string, Uint32Array>();

/** Puts the identity of a fault into `idWords`. The same fault in two workspaces is two records. */
export function loadIdentity(digest: Uint8Array, workspace: string): void {
  const salt = workspaceSalt(workspace);
  for (let word = 0, at = 0; word < 4; word++) {
    let value = 0;
    for (const end = at + 4; at < end; at++) value = (value << 8) | (digest[at] as number);
    idWords[word] = value ^ (salt[word] as number);
  }
}

/** The same for a line, by the first four words of its digest. */
export function loadLineIdentity(words: Uint32Array, from: number, workspace: string): void {
  const salt = workspaceSalt(workspace);
  for (let word = 0; word < 4; word++) idWords[word] = (words[from + word] as number) ^ (salt[word] as number);
}

function workspaceSalt(workspace: string): Uint32Array {
  let salt = salts.get(workspace);
  if (salt === undefined) {
    const digest = createHash("sha256").update("workspace\0").update(workspace).digest();
    salt = Uint32Array.from({ length: 4 }, (_, word) => digest.readUInt32BE(word * 4));
    salts.set(workspace, salt);
  }
  return salt;
}
