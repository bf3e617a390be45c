// Finds out what a file is from its name and first bytes: every protocol is asked, and the surest one wins.

import type { Detection, FileHead, FileKind } from "./file-kind.ts";
import { sureness } from "./file-kind.ts";
import { protocols } from "./protocols.ts";

/** How many bytes at the beginning of a file are looked at. */
export const detectBytes: number = 64 * 1024;

/** Our own export, which holds records of all protocols. */
export const exportFile: FileKind = { name: "export_lines", read: null, check: null };
export const emptyFile: FileKind = { name: "empty", read: null, check: null };
export const unknownFile: FileKind = { name: "unknown", read: null, check: null };

const latin1 = new TextDecoder("latin1");

/** `bytes`: the first `detectBytes` of the file, all of it when it is shorter. */
export function detectFile(name: string, bytes: Uint8Array): FileKind {
  const file: FileHead = { name, bytes, text: latin1.decode(bytes) };
  const found = [detectExport(file), ...protocols.map((protocol) => protocol.detect(file))];
  let best: Detection | null = null;
  for (const one of found) if (one !== null && (best === null || one.sure > best.sure)) best = one;
  return best?.kind ?? (bytes.length === 0 ? emptyFile : unknownFile);
}

function detectExport({ text }: FileHead): Detection | null {
  return text.startsWith('{"tributary":1,') ? { kind: exportFile, sure: sureness.mark } : null;
}
