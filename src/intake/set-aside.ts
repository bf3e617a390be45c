// Records that cannot be applied. Everything accepted is in the journal and is applied again at every start, so one
// record that throws, or that kills the process, would stop the server for good. Such a record is tried twice, each time with
// a fresh state, then set aside with its bytes: `set-aside/<position>.record` in the data folder, as a durable file, with the
// reason beside it. A fault that says so is applied in its place. Renamed to `<position>.retry`, it is submitted again at the
// next start.
//
// A process that dies cannot say why. So while the journal is replayed, the file `applying` holds the current position; a
// position that is found there again and again is the one that kills.

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { readDurable, writeDurably } from "#base/durable-file.ts";
import type { Files } from "#base/files.ts";
import type { Fault } from "#model/fault.ts";
import type { Applied } from "./applied.ts";
import { decodeInputAside, encodeInput, type Input } from "./input.ts";
import type { Decoded } from "./input-kind.ts";
import { keepFault } from "./refused.ts";
import type { Applier, FailedInput, InputLog } from "./sequencer.ts";

/** How often a record may fail before it is set aside. */
export const triesMax = 2;
/** How much of a record its fault shows; the file has all of it. */
const shownBytesMax = 4096;
const noteBytes = 96;

interface Suspect {
  readonly position: number;
  readonly tries: number;
  readonly reason: string;
}

export interface AsideRecord {
  readonly position: number;
  readonly reason: string;
  readonly tries: number;
  readonly bytes: number;
  readonly at: string;
}

export interface SetAsideOptions {
  readonly files: Files;
  /** Null for what the server itself puts into the journal. */
  protocolOf(input: Input): string | null;
  onTrouble(message: string, cause: unknown): void;
}

const unknownRecord = { reason: "", tries: 0, bytes: 0, at: "" };

const nobody: Suspect = { position: -1, tries: 0, reason: "" };

export class SetAside {
  private readonly folder: string;
  private readonly notePath: string;
  private readonly files: Files;
  private readonly onTrouble: (message: string, cause: unknown) => void;
  private suspect: Suspect;
  /** Open while the journal is replayed at the start. */
  private note: number | null = null;
  private readonly protocolOf: (input: Input) => string | null;

  constructor(dataDir: string, { files, protocolOf, onTrouble }: SetAsideOptions) {
    this.folder = join(dataDir, "set-aside");
    this.notePath = join(dataDir, "applying");
    this.files = files;
    this.protocolOf = protocolOf;
    this.onTrouble = onTrouble;
    this.suspect = readSuspect(this.notePath);
  }

  /** Journal positions of what is set aside. */
  list(): number[] {
    return listFiles(this.folder, "record");
  }

  sentences(): string[] {
    const found = this.list();
    if (found.length === 0) return [];
    const which = found.slice(0, 5).join(", ");
    return [
      `${found.length} accepted records could not be applied and were set aside (journal positions ${which}); ` +
        "tributary aside says why, and tries them again.",
    ];
  }

  /** Wraps the journal: a record that kills is set aside when it is read. */
  log(log: InputLog): InputLog {
    const read = (from: number): AsyncIterable<{ position: number; payload: Uint8Array }> => this.replay(log, from);
    return { append: (parts) => log.append(parts), replay: read };
  }

  /** Wraps the applier: for a record that is set aside, only its fault is applied. */
  applier(applier: Applier): Applier {
    return {
      decode: (input) => applier.decode(input),
      decodeAgain: (position, input) => {
        if (this.isAside(position)) return this.standIn(input);
        return this.watch(position, () => applier.decodeAgain(position, input));
      },
      prepare: (input, decoded) => applier.prepare(input, decoded),
      foresee: async (entries) => applier.foresee?.(entries),
      apply: (position, input, decoded) => this.watch(position, () => applier.apply(position, input, decoded)),
      applyInTurns: (position, input, decoded) =>
        this.watch(position, () => applier.applyInTurns(position, input, decoded)),
    };
  }

  beginReplay(): void {
    this.note = openSync(this.notePath, "w", 0o600);
    this.writeNote(this.suspect);
  }

  endReplay(): void {
    this.suspect = nobody;
    if (this.note === null) return;
    closeSync(this.note);
    this.note = null;
    rmSync(this.notePath, { force: true });
  }

  /** The files of records up to a position that are set aside or to be tried again. */
  filesUpTo(position: number): string[] {
    const kinds = ["record", "retry"] as const;
    return kinds.flatMap((kind) =>
      listFiles(this.folder, kind)
        .filter((one) => one <= position)
        .flatMap((one) => [this.pathOf(one, kind), this.pathOf(one, "json")].filter((path) => existsSync(path))),
    );
  }

  /** What is known of each record that is set aside. */
  describe(): AsideRecord[] {
    return this.list().map((position) => ({ ...unknownRecord, ...this.readAbout(position), position }));
  }

  /** Hands over every record that was renamed to be tried again, and removes each when it was taken. */
  async retry(take: (input: Input) => Promise<unknown>): Promise<void> {
    for (const position of listFiles(this.folder, "retry")) await this.handOver(position, "retry", take);
  }

  /** The same for records that are set aside, all or some of them. Returns how many there were. */
  async retryNow(positions: readonly number[] | null, take: (input: Input) => Promise<unknown>): Promise<number> {
    const wanted = this.list().filter((position) => positions === null || positions.includes(position));
    for (const position of wanted) await this.handOver(position, "record", take);
    return wanted.length;
  }

  private async handOver(
    position: number,
    kind: "record" | "retry",
    take: (input: Input) => Promise<unknown>,
  ): Promise<void> {
    const path = this.pathOf(position, kind);
    const record = await readDurable(this.files, path);
    const input = record === undefined ? null : await decodeInputAside(record);
    if (input === null) {
      this.onTrouble(`The file of record ${position}, which was set aside, cannot be read; it is kept.`, path);
      return;
    }
    await take(input);
    rmSync(path);
    rmSync(this.pathOf(position, "json"), { force: true });
  }

  private readAbout(position: number): Partial<AsideRecord> {
    try {
      return JSON.parse(readFileSync(this.pathOf(position, "json"), "utf8")) as AsideRecord;
    } catch {
      return {};
    }
  }

  /** Makes the record durable outside the journal, and returns what is applied in its place. */
  async put({ position, input, cause, tries }: FailedInput): Promise<Applied> {
    await this.save(position, encodeInput(input), { tries, reason: String(cause) });
    return this.toFault(input, position);
  }

  /** The process is ending because of this record: counts it as an attempt. */
  blame({ position, cause }: Pick<FailedInput, "position" | "cause">): void {
    const tries = this.suspect.position === position ? this.suspect.tries : 0;
    this.suspect = { position, tries: tries + 1, reason: String(cause) };
    writeFileSync(this.notePath, format(this.suspect), { mode: 0o600 });
  }

  private async *replay(log: InputLog, from: number): AsyncGenerator<{ position: number; payload: Uint8Array }> {
    for await (const record of log.replay(from)) {
      const { position, payload } = record;
      const { tries } = this.suspect;
      if (this.suspect.position === position && tries >= triesMax && !this.isAside(position))
        await this.save(position, [payload], this.suspect);
      yield record;
    }
  }

  private isAside(position: number): boolean {
    return existsSync(this.pathOf(position, "record")) || existsSync(this.pathOf(position, "retry"));
  }

  private async save(
    position: number,
    record: readonly Uint8Array[],
    { tries, reason }: Pick<Suspect, "tries" | "reason">,
  ): Promise<void> {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const bytes = record.reduce((sum, part) => sum + part.length, 0);
    const about = JSON.stringify({ position, tries, reason, bytes, at: new Date().toISOString() });
    writeFileSync(this.pathOf(position, "json"), about, { mode: 0o600 });
    await writeDurably(this.files, this.pathOf(position, "record"), record);
    this.suspect = nobody;
    this.onTrouble(`Record ${position} of the journal could not be applied and is set aside.`, reason);
  }

  private standIn(input: Input): Decoded {
    return { prepare: () => null, apply: (_, __, position) => this.toFault(input, position) };
  }

  private toFault(input: Input, position: number): Applied {
    const protocol = this.protocolOf(input);
    const reason = this.readAbout(position).reason ?? "";
    // The server's own records hold secrets such as keys, which a fault must not show.
    const raw = protocol === null ? new Uint8Array() : input.body.slice(0, shownBytesMax);
    const place = { file: `set-aside/${position}.record` };
    const fault: Fault = { code: "record_set_aside", detail: `${input.body.length} bytes: ${reason}`, place, raw };
    return keepFault(fault, protocol ?? "", input, position);
  }

  /** Records the position until the work, or the promise that it returns, is done. */
  private watch<T>(position: number, work: () => T): T {
    const end = this.begin(position);
    let result: T;
    try {
      result = work();
    } catch (cause) {
      end();
      throw cause;
    }
    if (result instanceof Promise) return result.finally(end) as T;
    end();
    return result;
  }

  /** Records what is being applied, until the returned function is called. */
  private begin(position: number): () => void {
    if (this.note === null) return ignore;
    const before = this.suspect.position === position ? this.suspect.tries : 0;
    this.writeNote({ position, tries: before + 1, reason: "" });
    return () => this.writeNote(this.suspect);
  }

  /**
   * In place and without a sync: a dying process loses nothing of it, and after a power failure the record is tried once more.
   * On a full disk there is no note, and the server starts all the same.
   */
  private writeNote(suspect: Suspect): void {
    if (this.note === null) return;
    try {
      writeSync(this.note, format({ ...suspect, reason: "" }).padEnd(noteBytes), 0);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "ENOSPC") throw cause;
    }
  }

  private pathOf(position: number, kind: "record" | "retry" | "json"): string {
    return join(this.folder, `${position}.${kind}`);
  }
}

/** What is set aside in a data folder, by journal position. */
export function listAside(dataDir: string): number[] {
  return listFiles(join(dataDir, "set-aside"), "record");
}

function listFiles(folder: string, kind: "record" | "retry"): number[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => (name.endsWith(`.${kind}`) ? [Number.parseInt(name, 10)] : []))
    .sort((a, b) => a - b);
}

function ignore(): void {}

function format(suspect: Suspect): string {
  return JSON.stringify(suspect);
}

function readSuspect(path: string): Suspect {
  try {
    const { position, tries, reason } = JSON.parse(readFileSync(path, "utf8")) as Suspect;
    return { position, tries, reason: reason === "" ? "the process ended while it was applied" : reason };
  } catch {
    return nobody;
  }
}
