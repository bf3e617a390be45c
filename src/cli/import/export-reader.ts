// Our own export, line by line (docs/export.md): each record goes to the door it came in by, under its own identity, so
// that importing an export again, or where its runs are known, changes nothing.

import type { HistoryFault, HistoryStep } from "#api/contract/history.ts";
import { encodePayload } from "#wire/xtrack/encode.ts";
import type { FoundFile } from "./found-file.ts";
import { LineReader, newline, type ReaderOptions, sendBytes } from "./line-reader.ts";
import type { Sender } from "./sender.ts";

interface Line {
  readonly kind: "run" | "cirron" | "xtrack" | "semantiva" | "log" | "wrapper" | "file" | "fault" | "command";
  readonly run?: string;
  readonly edit?: Parameters<Sender["editRun"]>[1] | null;
  readonly fault?: HistoryFault;
  readonly step?: HistoryStep;
  readonly source?: string;
  readonly stream_run?: string;
  readonly wrapper?: string;
  readonly stream?: "stdout" | "stderr";
  readonly offset?: string;
  readonly at_ns?: string;
  readonly key?: string;
  readonly artifact?: string;
  readonly text?: string;
  readonly base64?: string;
  readonly sha256?: string;
}

/** Neighbouring records for one request. */
interface Pending {
  readonly key: string;
  readonly line: Line;
  readonly parts: Uint8Array[];
  bytes: number;
}

/** What a request of faults holds at most, unless one alone is larger. */
const historyCharsMax = 200_000;
const recordMark = Buffer.from(',"record":');
const lineEnd = Uint8Array.of(newline);

export class ExportReader extends LineReader {
  private pending: Pending | null = null;
  private fileParts: Buffer[] = [];
  private readonly history = new Map<string, { faults: HistoryFault[]; commands: HistoryStep[]; chars: number }>();
  private readonly edits: [run: string, edit: NonNullable<Line["edit"]>][] = [];

  constructor(file: FoundFile, options: ReaderOptions) {
    super(file, options);
    this.line = 0;
  }

  override async finish(): Promise<void> {
    await super.finish();
    await this.flush();
    if (this.edits.length === 0 && this.history.size === 0) return;
    const { sender } = this.options;
    // A run can be edited once it is there.
    await sender.settle();
    for (const [run, edit] of this.edits) await sender.editRun(run, edit);
    for (const [run, { faults, commands }] of this.history) await sender.tellHistory(run, { faults, commands });
  }

  protected async take(lines: Buffer): Promise<void> {
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(newline, start);
      const stop = end < 0 ? lines.length : end;
      this.line++;
      if (stop > start) await this.takeLine(lines.subarray(start, stop));
      start = stop + 1;
    }
  }

  private async takeLine(bytes: Buffer): Promise<void> {
    // The record is the last member and is taken as it stands: parsing it would lose digits.
    const at = bytes.indexOf(recordMark);
    const head = JSON.parse(at < 0 ? bytes.toString() : `${bytes.toString("utf8", 0, at)}}`) as Line;
    const record = at < 0 ? Buffer.from(head.text ?? "") : bytes.subarray(at + recordMark.length, bytes.length - 1);
    const to = head.run === undefined ? {} : { run: head.run };
    switch (head.kind) {
      case "run":
        if (head.edit) this.edits.push([head.run as string, head.edit]);
        return;
      case "cirron":
        return this.options.sender.sendBatch(this.file.path, `export:${head.source}`, record, to);
      case "xtrack":
        return this.add(`x\n${head.run}\n${head.stream_run}`, head, [encodePayload(record)]);
      case "semantiva":
        return this.add(`s\n${head.run}`, head, [record, lineEnd]);
      case "wrapper":
        return this.add(`w\n${head.run}\n${head.wrapper}`, head, [record, lineEnd]);
      case "log":
        return this.takeOutput(head);
      case "file":
        return this.takeFile(head);
      case "fault":
      case "command":
        return this.takeHistory(head);
    }
  }

  private async takeHistory({ run = "", fault, step }: Line): Promise<void> {
    const known = this.history.get(run) ?? { faults: [], commands: [], chars: 0 };
    this.history.set(run, known);
    if (fault !== undefined) known.faults.push(fault);
    if (step !== undefined) known.commands.push(step);
    known.chars += JSON.stringify(fault ?? step ?? "").length;
    // A command's steps go together: one that has none after its last was still open.
    if (known.chars < historyCharsMax || known.commands.length > 0) return;
    await this.flush();
    await this.options.sender.settle();
    await this.options.sender.tellHistory(run, { faults: known.faults });
    this.history.delete(run);
  }

  private async takeOutput(head: Line): Promise<void> {
    const text = head.base64 === undefined ? Buffer.from(head.text ?? "") : Buffer.from(head.base64, "base64");
    const pending = this.pending;
    const from = `o\n${head.run}\n${head.wrapper}\n${head.stream}\n${head.at_ns}`;
    const follows = pending?.key === from && Number(pending.line.offset) + pending.bytes === Number(head.offset);
    // A line whose place does not follow from the ones before it (CR LF, another chunk) goes on its own.
    if (!follows) await this.flush();
    return this.add(from, head, [text, lineEnd]);
  }

  private async takeFile(head: Line): Promise<void> {
    if (head.base64 !== undefined) {
      this.fileParts.push(Buffer.from(head.base64, "base64"));
      return;
    }
    const parts = this.fileParts;
    this.fileParts = [];
    const { sender } = this.options;
    const { path, source } = this.file;
    if (head.key !== undefined) await sender.sendBlob(path, head.key, source, toStream(parts));
    else if (head.artifact !== undefined)
      await sender.sendArtifact(path, head.run as string, head.artifact, toStream(parts));
  }

  private async add(key: string, line: Line, parts: readonly Uint8Array[]): Promise<void> {
    if (this.pending !== null && (this.pending.key !== key || this.pending.bytes >= sendBytes)) await this.flush();
    this.pending ??= { key, line, parts: [], bytes: 0 };
    for (const part of parts) {
      this.pending.parts.push(part);
      this.pending.bytes += part.length;
    }
  }

  private async flush(): Promise<void> {
    const { pending } = this;
    if (pending === null) return;
    this.pending = null;
    const bytes = Buffer.concat(pending.parts);
    const { kind, run, stream_run, wrapper, stream, offset, at_ns } = pending.line;
    const { sender } = this.options;
    const { path, source } = this.file;
    const to = run === undefined ? {} : { run };
    if (kind === "xtrack") await sender.sendFrames(path, source, bytes, 0, stream_run ?? null, to);
    else if (kind === "semantiva") await sender.sendLines(path, source, bytes, this.line, 0, to);
    else if (kind === "wrapper") await sender.sendWrapperLines(path, run as string, wrapper as string, bytes);
    else {
      const when = at_ns === undefined ? {} : { at_ns };
      const query = { wrapper: wrapper as string, stream: stream as "stdout", offset: Number(offset), ...when };
      await sender.sendOutput(path, run as string, query, bytes);
    }
  }
}

async function* toStream(parts: readonly Buffer[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
