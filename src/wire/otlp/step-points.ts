// Numbers on the span of a step are measurements of that step: `megatron.loss` beside `megatron.iteration` is a point
// of a metric. They are gathered while a span's attributes are read, and become rows if the span has a step.

import { UInt32Column } from "#base/columns.ts";
import { parseDigitsOnly } from "#base/json/number.ts";
import { createRows, type Rows } from "#model/tables.ts";
import type { Key } from "./key-cache.ts";
import type { AttributeRole } from "./meaning.ts";

interface NumberAttribute {
  readonly isInteger: boolean;
  readonly number: number;
  readonly low: number;
  readonly high: number;
}

/** The end of the span, which is the time of its points. */
interface SpanTime {
  readonly endLow: number;
  readonly endHigh: number;
}

export class StepPoints {
  readonly rows: Rows<"metrics"> = createRows("metrics");
  /** For each point, the row of its span. */
  readonly span: UInt32Column = new UInt32Column();
  hasStep = false;
  stepLow = 0;
  stepHigh = 0;
  hasThread = false;
  threadLow = 0;
  threadHigh = 0;
  private readonly keys: string[] = [];
  private readonly values: number[] = [];
  private count = 0;

  begin(): void {
    this.hasStep = false;
    this.hasThread = false;
    this.count = 0;
  }

  /** A numeric attribute of the span. */
  note({ text, role }: Key<AttributeRole>, { isInteger, number, low, high }: NumberAttribute): void {
    if (role === "other") {
      this.keys[this.count] = text;
      this.values[this.count++] = number;
    } else if (isInteger) this.noteWord(role, low, high);
  }

  /** A text, which may be a step too: attributes from an environment variable are always text. */
  noteText(role: AttributeRole, bytes: Uint8Array, from: number, to: number): void {
    if (role !== "step" && role !== "thread") return;
    const number = parseDigitsOnly(bytes, from + 1, to - 1);
    if (number >= 0) this.noteWord(role, number >>> 0, Math.floor(number / 4294967296));
  }

  /** Pushes the points of the span in this row, if it has a step. `idHex` begins with its id. */
  close(spanRow: number, idHex: Uint8Array, { endLow, endHigh }: SpanTime, worker: string): void {
    if (!this.hasStep) return;
    const { rows } = this;
    for (let i = 0; i < this.count; i++) {
      this.span.push(spanRow);
      rows.key.push(this.keys[i] as string);
      rows.worker.push(worker);
      rows.step.present().pushWords(this.stepLow, this.stepHigh);
      rows.ts_ns.pushWords(endLow, endHigh);
      rows.value.present().push(this.values[i] as number);
      rows.seq.pushWords(0, 0);
      rows.entry.push(i);
      rows.mark_id.pushBytes(idHex, 0, 16);
      rows.span_id.pushBytes(idHex, 0, 16);
    }
  }

  private noteWord(role: AttributeRole, low: number, high: number): void {
    // If two attributes name a step, the first one counts.
    if (role === "step" && !this.hasStep) {
      this.hasStep = true;
      this.stepLow = low;
      this.stepHigh = high;
    } else if (role === "thread") {
      this.hasThread = true;
      this.threadLow = low;
      this.threadHigh = high;
    }
  }
}
