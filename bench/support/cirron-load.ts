// Batches as the Cirron SDK posts them, made of a real training's spool: the same spans, marks and snapshots under
// fresh ids and another pid each time, so that every copy is a training of its own.

import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const spool = new URL("../../examples/data/h200/cirron-stats/.cirron/spool/", import.meta.url);

export interface CirronLoad {
  /** gzip, ready to be posted. */
  readonly bodies: Buffer[];
  readonly spans: number;
  readonly marks: number;
  readonly snapshots: number;
  readonly rawBytes: number;
  /** One training's batches as text, for comparison with JSON.parse. */
  readonly sample: { readonly texts: Buffer[]; readonly spans: number };
}

/** A batch of one training. */
export interface CirronCopy {
  readonly body: Buffer;
  readonly spans: number;
  readonly training: number;
  /** The training ends with it. */
  readonly isLast: boolean;
}

interface Template {
  readonly text: Buffer;
  readonly idAt: number[];
  readonly pidAt: number[];
  /** Where times begin, in nanoseconds of 19 digits. */
  readonly timeAt: number[];
  readonly spans: number;
  readonly marks: number;
  readonly snapshots: number;
}

export function createCirronLoad(spansMin: number): CirronLoad {
  const templates = readdirSync(spool).sort().map(readTemplate);
  const total = (field: "spans" | "marks" | "snapshots") => templates.reduce((sum, one) => sum + one[field], 0);
  const copies = Math.ceil(spansMin / total("spans"));
  const bodies: Buffer[] = [];
  let rawBytes = 0;
  for (let copy = 0; copy < copies; copy++) {
    for (const template of templates) {
      bodies.push(gzipSync(toCopy(template, copy)));
      rawBytes += template.text.length;
    }
  }
  return {
    bodies,
    spans: copies * total("spans"),
    marks: copies * total("marks"),
    snapshots: copies * total("snapshots"),
    rawBytes,
    sample: { texts: templates.map((template) => template.text), spans: total("spans") },
  };
}

/**
 * The same training again and again, forever, each as if it ended now. The bodies are stored, not packed: packing would
 * slow the sender.
 */
export function* createCirronCopies(): Generator<CirronCopy, never> {
  const templates = readdirSync(spool).sort().map(readTemplate);
  const endS = Math.max(...templates.flatMap(({ text, timeAt }) => timeAt.map((at) => secondsAt(text, at))));
  for (let copy = 0; ; copy++) {
    const laterS = Math.floor(Date.now() / 1000) - endS;
    for (const [place, template] of templates.entries()) {
      const text = toCopy(template, copy);
      for (const at of template.timeAt) text.write(String(secondsAt(text, at) + laterS), at, "latin1");
      const isLast = place === templates.length - 1;
      yield { body: gzipSync(text, { level: 0 }), spans: template.spans, training: copy, isLast };
    }
  }
}

function readTemplate(name: string): Template {
  const text = readFileSync(new URL(name, spool));
  const latin = text.toString("latin1");
  const at = (pattern: RegExp) => Array.from(latin.matchAll(pattern), (match) => match.index + match[0].length);
  const batch = JSON.parse(latin) as Record<"spans" | "marks" | "snapshots", unknown[]>;
  return {
    text,
    idAt: at(/"[0-9a-f]{32}(?=")/g),
    pidAt: at(/"pid":\s*\d{4}(?=\D)/g),
    timeAt: at(/_ns":\s*(?=\d{19}\D)/g),
    spans: batch.spans.length,
    marks: batch.marks.length,
    snapshots: batch.snapshots.length,
  };
}

function secondsAt(text: Buffer, at: number): number {
  return Number(text.toString("latin1", at, at + 10));
}

/** The last eight digits of an id and the four of a pid say which copy it is. */
function toCopy(template: Template, copy: number): Buffer {
  const text = Buffer.from(template.text);
  const suffix = copy.toString(16).padStart(8, "0");
  const pid = String(1000 + (copy % 9000));
  for (const end of template.idAt) text.write(suffix, end - 8, "latin1");
  for (const end of template.pidAt) text.write(pid, end - 4, "latin1");
  return text;
}
