// The identity of this collector on a shared store. Its id is in the data folder, and journal positions are counted
// under it. A folder that was copied, or restored from a snapshot, would use positions again that the store already
// has. So the store records how far each collector got and in which start, and a folder that is behind becomes a new
// collector.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { nowNs } from "#base/clock.ts";
import { readDurableText, writeDurableText } from "#base/durable-file.ts";
import {
  type KnownCollector,
  noteCollector,
  noteInstallation,
  readCollector,
  readInstallations,
} from "#store/collectors.ts";
import type { Store } from "#store/store.ts";

export interface Identity {
  readonly id: string;
  /** Differs for every start, so that no two starts name two blocks alike. */
  readonly epoch: string;
}

/** What a data folder knows about the store that its records went to. */
interface Membership {
  readonly installation: string;
  /** The last start that the store knows, and the one that was about to be recorded. */
  readonly epochs: readonly string[];
}

export class ForeignFolder extends Error {
  override readonly name = "ForeignFolder";
  readonly kind = "foreign_folder";
}

/** The id in the folder; a folder without one gets one. */
async function readCollectorId(dataDir: string): Promise<string> {
  const known = await readDurableText(join(dataDir, "collector"));
  return known ?? renameCollector(dataDir);
}

/** Gives the folder a new id, which counts from the next start on. */
export async function renameCollector(dataDir: string): Promise<string> {
  const id = toNonce();
  await writeDurableText(join(dataDir, "collector"), id);
  return id;
}

function toNonce(): string {
  return randomUUID().slice(0, 8);
}

export interface Folder {
  readonly dataDir: string;
  /** The last record in its journal. */
  readonly position: number;
}

/** Who this process is, before the store is asked. */
export async function readIdentity(dataDir: string): Promise<Identity> {
  return { id: await readCollectorId(dataDir), epoch: toNonce() };
}

/**
 * Records this start in the store. A copied folder gets a new id. Throws a ForeignFolder if it is too late for that, or
 * if the folder's records went to another store.
 */
export async function enrol(
  store: Store,
  { dataDir, position }: Folder,
  { epoch, ...before }: Identity,
  { mayRename, onRenamed }: { mayRename(): boolean; onRenamed(sentence: string): void },
): Promise<ProgressNotes> {
  let { id } = before;
  if (store.kind === "embedded") return new ProgressNotes(store, { id, epoch });
  const path = join(dataDir, "membership");
  const text = await readDurableText(path);
  const member = text === undefined ? null : (JSON.parse(text) as Membership);
  const installation = await joinInstallation(store, member);
  const known = await readCollector(store, id);
  const why = known === null ? null : whyAnother(known, member, position);
  if (why !== null) {
    id = await renameCollector(dataDir);
    const sentence = `This folder is a copy of collector ${before.id}: ${why}.`;
    if (!mayRename()) throw new ForeignFolder(`${sentence} Started again, it is collector ${id}.`);
    onRenamed(`${sentence} It goes on as collector ${id}.`);
  }
  const epochs = why === null ? (member?.epochs ?? []).slice(-1) : [];
  await writeDurableText(path, JSON.stringify({ installation, epochs: [...epochs, epoch] } satisfies Membership));
  const noted = why === null ? (known?.position ?? 0) : 0;
  await noteCollector(store, { collector: id, epoch, position: noted, version: nowNs() });
  await writeDurableText(path, JSON.stringify({ installation, epochs: [epoch] } satisfies Membership));
  return new ProgressNotes(store, { id, epoch });
}

function whyAnother(known: KnownCollector, member: Membership | null, position: number): string | null {
  if (known.position > position)
    return `the store has its records up to ${known.position}, and this journal ends at ${position}`;
  if (member !== null && !member.epochs.includes(known.epoch)) return "the other was started after the copy was made";
  return null;
}

async function joinInstallation(store: Store, member: Membership | null): Promise<string> {
  const installations = await readInstallations(store);
  if (member !== null && installations.includes(member.installation)) return member.installation;
  if (member !== null)
    throw new ForeignFolder(
      `The data folder belongs to another store than store.url names. Set that store again, or use another folder.`,
    );
  const first = installations[0] ?? randomUUID();
  if (installations.length === 0) await noteInstallation(store, first, nowNs());
  return first;
}

/** A store that hangs must not keep the process from ending. */
const lastNoteMs = 500;

/** Records in the store, from time to time and on `close`, how far this collector has got. */
export class ProgressNotes {
  readonly identity: Identity;
  private readonly store: Store;
  private readonly everyMs: number;
  private position = 0;
  private noted = 0;
  private lastMs = Number.NEGATIVE_INFINITY;
  private writing: Promise<void> = Promise.resolve();

  constructor(store: Store, identity: Identity, everyMs = 5000) {
    this.store = store;
    this.identity = identity;
    this.everyMs = everyMs;
  }

  stored(position: number): void {
    this.position = position;
    if (performance.now() - this.lastMs < this.everyMs) return;
    this.lastMs = performance.now();
    this.note();
  }

  async close(): Promise<void> {
    this.note();
    await Promise.race([this.writing, sleep(lastNoteMs, undefined, { ref: false })]);
  }

  private note(): void {
    const { position } = this;
    if (this.store.kind === "embedded" || position <= this.noted) return;
    this.noted = position;
    const { id: collector, epoch } = this.identity;
    // If one is lost, only a copy of the folder is harder to recognise.
    this.writing = this.writing
      .then(() => noteCollector(this.store, { collector, epoch, position, version: nowNs() }))
      .catch(() => undefined);
  }
}
