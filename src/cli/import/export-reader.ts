// Our own export, line by line (docs/export.md): each record goes to the door it came in by, under its own identity, so
// that importing an export again, or where its runs are known, changes nothing.

import { createHash } from "node:crypto";
import type { HistoryFault, HistoryStep } from "#api/contract/history.ts";
import type { ExportedKind, ExportHead } from "#protocol/exported.ts";
import { protocols } from "#protocol/protocols.ts";
import { LineReader } from "#protocol/reading/line-reader.ts";
import { type FoundFile, newline, type ReaderOptions, sendBytes } from "#protocol/reading/reader.ts";
import type { Sender } from "./sender.ts";

interface Line extends ExportHead {
  readonly edit?: Parameters<Sender["editRun"]>[2] | null;
  readonly fault?: HistoryFault;
  readonly step?: HistoryStep;
  readonly key?: string;
  readonly artifact?: string;
  /** Of the whole file. */
  readonly sha256?: string;
}

/** Neighbouring records for one request. */
interface Pending {
  readonly kind: ExportedKind;
  readonly key: string;
  readonly line: Line;
  /** The line of the file that it begins with. */
  readonly from: number;
  readonly parts: Uint8Array[];
  bytes: number;
}

/** What a request of faults holds at most, unless one alone is larger. */
const historyCharsMax = 200_000;
const recordMark = Buffer.from(',"record":');
const exportedKinds = new Map(protocols.flatMap(({ exported }) => exported.map((one) => [one.kind, one] as const)));

export class ExportReader extends LineReader {
  private pending: Pending | null = null;
  private fileParts: Buffer[] = [];
  private readonly history = new Map<string, { faults: HistoryFault[]; commands: HistoryStep[]; chars: number }>();
  private readonly edits: [run: string, edit: NonNullable<Line["edit"]>][] = [];

  private readonly sender: Sender;

  constructor(file: FoundFile, options: ReaderOptions & { readonly sender: Sender }) {
    super(file, options);
    this.sender = options.sender;
  }

  override async finish(): Promise<void> {
    await super.finish();
    await this.flush();
    if (this.edits.length === 0 && this.history.size === 0) return;
    const { sender } = this;
    const { path } = this.file;
    // A run can be edited once it is there.
    await sender.settle();
    for (const [run, edit] of this.edits) await sender.editRun(path, run, edit);
    for (const [run, { faults, commands }] of this.history) await sender.tellHistory(path, run, { faults, commands });
  }

  protected async take(lines: Buffer): Promise<void> {
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(newline, start);
      const stop = end < 0 ? lines.length : end;
      if (stop > start) await this.takeLine(lines.subarray(start, stop));
      if (end >= 0) this.line++;
      start = stop + 1;
    }
  }

  private async takeLine(bytes: Buffer): Promise<void> {
    // The record is the last member and is taken as it stands: parsing it would lose digits.
    const at = bytes.indexOf(recordMark);
    const head = parseHead(at < 0 ? bytes.toString() : `${bytes.toString("utf8", 0, at)}}`);
    if (head === null) {
      this.note("line_not_json", "is no line of an export");
      return;
    }
    const record = at < 0 ? Buffer.from(head.text ?? "") : bytes.subarray(at + recordMark.length, bytes.length - 1);
    const exported = exportedKinds.get(head.kind);
    if (exported !== undefined) await this.add(exported, head, record);
    else if (head.kind === "file") await this.takeFile(head);
    else if (head.kind === "run" && head.edit) this.edits.push([head.run as string, head.edit]);
    else if (head.kind === "fault" || head.kind === "command") await this.takeHistory(head);
  }

  private async takeHistory({ run = "", fault, step }: Line): Promise<void> {
    const known = this.history.get(run) ?? { faults: [], commands: [], chars: 0 };
    this.history.set(run, known);
    if (fault !== undefined) known.faults.push(fault);
    if (step !== undefined) known.commands.push(step);
    known.chars += JSON.stringify(fault ?? step ?? "").length;
    // The steps of a command are sent together: a command counts as open if its last step is not among them.
    if (known.chars < historyCharsMax || known.commands.length > 0) return;
    await this.flush();
    await this.sender.settle();
    await this.sender.tellHistory(this.file.path, run, { faults: known.faults });
    this.history.delete(run);
  }

  private async takeFile(head: Line): Promise<void> {
    if (head.base64 !== undefined) {
      this.fileParts.push(Buffer.from(head.base64, "base64"));
      return;
    }
    const parts = this.fileParts;
    this.fileParts = [];
    const { sender } = this;
    const { path, source } = this.file;
    // If a line is missing, so is a part of the file.
    if (head.sha256 !== undefined && digestOf(parts) !== head.sha256) {
      this.note("file_damaged", `lacks some bytes of ${head.key ?? head.artifact ?? "a file"}, which is left out`);
      return;
    }
    if (head.key !== undefined) await sender.sendBlob(path, head.key, source, () => toStream(parts));
    else if (head.artifact !== undefined)
      await sender.sendArtifact(path, head.run as string, head.artifact, () => toStream(parts));
  }

  private note(code: string, message: string): void {
    this.sender.note({ file: this.file.path, line: this.line, code, message });
  }

  private async add(kind: ExportedKind, head: Line, record: Uint8Array): Promise<void> {
    const { pending } = this;
    const joinBy = kind.joinBy(head);
    const key = `${kind.kind}\n${joinBy}`;
    const goesOn =
      pending?.key === key &&
      joinBy !== null &&
      pending.bytes < sendBytes &&
      (kind.follows?.(pending.line, pending.bytes, head) ?? true);
    if (!goesOn) await this.flush();
    this.pending ??= { kind, key, line: head, from: this.line, parts: [], bytes: 0 };
    for (const part of kind.toBytes(head, record)) {
      this.pending.parts.push(part);
      this.pending.bytes += part.length;
    }
  }

  private async flush(): Promise<void> {
    const { pending } = this;
    if (pending === null) return;
    this.pending = null;
    const { kind, line, from, parts } = pending;
    const { path: file, source } = this.file;
    const shipment = { file, source, run: line.run, ...kind.toShipment(line, from) };
    await this.options.sender.send(shipment, Buffer.concat(parts));
  }
}

/** Null for a line that is torn or not ours. */
function parseHead(text: string): Line | null {
  try {
    const head: unknown = JSON.parse(text);
    return typeof head === "object" && head !== null ? (head as Line) : null;
  } catch {
    return null;
  }
}

function digestOf(parts: readonly Buffer[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

async function* toStream(parts: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
