// Tells a person about problems, because nothing may throw: one line on standard error, each only once.

import { writeDescriptor } from "./write-descriptor.ts";

const said = new Set<string>();
const stderr = 2;
/** Standard error must not be flooded. */
const sentencesMax = 100;

export function say(sentence: string): void {
  if (said.has(sentence) || said.size >= sentencesMax) return;
  said.add(sentence);
  writeDescriptor(stderr, Buffer.from(`tributary: ${sentence}\n`));
}

/** The reason in a word or two: a code such as EACCES where there is one. */
export function toReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message ?? String(error);
}
