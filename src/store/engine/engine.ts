// The embedded engine: which lane a statement runs on, and how it is ended when nobody waits for its answer any more.
// chDB's own abort only rejects a promise while the engine goes on computing; a KILL from another session ends it.

import { drainPending } from "chdb";
import { quote } from "#store/sql-quote.ts";
import {
  type EngineFolders,
  type GuestLimits,
  laneArgs,
  laneOpening,
  laneSettings,
  type Purpose,
} from "./engine-config.ts";
import { whyNotForGuests } from "./guest-fence.ts";
import { LanePool } from "./lane-pool.ts";
import { SessionLane, type Settings } from "./session-lane.ts";
import { firstWord } from "./sql-text.ts";

const laneCounts: Readonly<Record<Purpose, number>> = { write: 2, define: 1, control: 1, read: 4, guest: 2 };

const readingWords: ReadonlySet<string> = new Set(["SELECT", "WITH", "SHOW", "EXPLAIN", "DESCRIBE", "DESC", "EXISTS"]);

export function purposeOf(sql: string): Purpose {
  const word = firstWord(sql);
  if (word === "INSERT") return "write";
  return readingWords.has(word) ? "read" : "define";
}

export interface Statement {
  readonly sql: string;
  readonly format: string;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  /** Called when the statement has its lane. */
  readonly onBegun?: () => void;
}

export class Engine {
  private readonly pools: ReadonlyMap<Purpose, LanePool>;

  private constructor(pools: ReadonlyMap<Purpose, LanePool>) {
    this.pools = pools;
  }

  /** Throws when another process holds the folder: the first session takes the engine's own lock on it. */
  static async open(folders: EngineFolders, memoryBytesMax: number, guest: GuestLimits): Promise<Engine> {
    const pools = new Map<Purpose, LanePool>();
    for (const [purpose, count] of Object.entries(laneCounts) as [Purpose, number][]) {
      const lanes: SessionLane[] = [];
      for (let i = 0; i < count; i++) {
        const lane = await SessionLane.open({
          name: `${purpose}-${i}`,
          folder: folders.store,
          connectionArgs: laneArgs(folders, memoryBytesMax),
          settings: laneSettings(purpose, memoryBytesMax),
          opening: laneOpening(purpose, guest),
        });
        lanes.push(lane);
      }
      pools.set(purpose, new LanePool(lanes));
    }
    return new Engine(pools);
  }

  /** Gives the whole answer at once: for statements other than SELECT, and formats that do not stream. */
  async run(purpose: Purpose, statement: Statement): Promise<Uint8Array> {
    return this.onLane(purpose, statement, async (lane) => {
      if (purpose === "guest") await refuseGuest(lane, statement);
      return lane.run(statement.sql, statement.format);
    });
  }

  /** Hands each chunk of the answer to `take`, which may hold the stream back. */
  async stream(purpose: Purpose, statement: Statement, take: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    await this.onLane(purpose, statement, async (lane) => {
      if (purpose === "guest") await refuseGuest(lane, statement);
      for await (const chunk of lane.stream(statement.sql, statement.format)) {
        statement.signal.throwIfAborted();
        await take(chunk);
      }
    });
  }

  /** Runs something small, to show that the engine still answers. */
  async probe(): Promise<void> {
    const pool = this.poolOf("control");
    const lane = await pool.acquire(new AbortController().signal);
    await lane.run("SELECT 1", "Null").finally(() => pool.release(lane));
  }

  load(): Record<string, { readonly busy: number; readonly waiting: number }> {
    return Object.fromEntries(Array.from(this.pools, ([name, { busy, waiting }]) => [name, { busy, waiting }]));
  }

  /** Ends what runs, then releases the folder. */
  async close(): Promise<void> {
    const pool = this.poolOf("control");
    const lane = await pool.acquire(new AbortController().signal);
    await lane.run("KILL QUERY WHERE 1 ASYNC", "Null");
    for (const each of this.pools.values()) each.close();
    await drainPending();
  }

  private poolOf(purpose: Purpose): LanePool {
    return this.pools.get(purpose) as LanePool;
  }

  private async onLane<R>(purpose: Purpose, statement: Statement, work: (lane: SessionLane) => Promise<R>): Promise<R> {
    const pool = this.poolOf(purpose);
    const lane = await pool.acquire(statement.signal);
    let killing: Promise<void> | null = null;
    const kill = (): void => {
      killing = this.killLane(lane.name);
    };
    // A guest lane is read-only even for its own settings, so a caller's settings are ignored.
    const settings: Settings = purpose === "guest" ? new Map() : statement.settings;
    try {
      statement.signal.throwIfAborted();
      statement.onBegun?.();
      await lane.apply(settings);
      statement.signal.addEventListener("abort", kill, { once: true });
      return await work(lane);
    } finally {
      statement.signal.removeEventListener("abort", kill);
      // The lane is lent again only after the kill has landed, or the kill would hit the next statement.
      await killing;
      await lane.restore(settings);
      pool.release(lane);
    }
  }

  /** Never `SYNC`: that waits for a process-list entry which lingers until the lane's next statement. */
  private async killLane(name: string): Promise<void> {
    const pool = this.poolOf("control");
    const lane = await pool.acquire(new AbortController().signal);
    const sql = `KILL QUERY WHERE Settings['log_comment'] = ${quote(name)} ASYNC`;
    await lane.run(sql, "Null").catch(() => {});
    pool.release(lane);
  }
}

async function refuseGuest(lane: SessionLane, { sql, signal }: Statement): Promise<void> {
  const tree = await lane.readTree(sql);
  signal.throwIfAborted();
  const reason = whyNotForGuests(tree);
  if (reason !== null) throw new Error(`Code: 497. DB::Exception: This is not for guests: ${reason}. (ACCESS_DENIED)`);
}
