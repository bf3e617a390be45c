// One chDB session. A session runs one statement at a time, so a lane is lent to one caller at a time (see
// lane-pool.ts). It has a fixed `log_comment`, by which another lane can end whatever runs on it.

import { Session } from "chdb";
import { quote } from "#store/sql-quote.ts";
import { HeaderOnce } from "./chunked-format.ts";
import { formatSettings } from "./sql-text.ts";

export type Settings = ReadonlyMap<string, string>;

export interface LaneOptions {
  readonly name: string;
  readonly folder: string;
  readonly connectionArgs: readonly string[];
  /** Settings of every statement on this lane, restored after one that changed them. */
  readonly settings: Settings;
  /** Statements run once, when the session is opened. */
  readonly opening: readonly string[];
}

export class SessionLane {
  readonly name: string;
  busy = false;
  private readonly session: Session;
  private readonly settings: Settings;

  private constructor(options: LaneOptions) {
    this.name = options.name;
    this.settings = options.settings;
    this.session = new Session(options.folder, { connectionArgs: [...options.connectionArgs] });
  }

  static async open(options: LaneOptions): Promise<SessionLane> {
    const lane = new SessionLane(options);
    await lane.run(`SET ${formatSettings([...options.settings, ["log_comment", options.name]])}`, "Null");
    for (const statement of options.opening) await lane.run(statement, "Null");
    return lane;
  }

  async run(sql: string, format: string): Promise<Uint8Array> {
    return (await this.session.queryAsync(sql, { format })).bytes();
  }

  /** Chunks of one answer in a format whose chunks can be joined. The engine takes only a single SELECT here. */
  async *stream(sql: string, format: string): AsyncGenerator<Uint8Array, void, void> {
    const header = new HeaderOnce(format);
    try {
      for await (const chunk of this.session.queryStream(sql, { format })) yield header.take(chunk.raw());
    } catch (error) {
      // Otherwise what a failed answer had written would come before the lane's next answer.
      await this.run("SELECT 1", "Null").catch(() => {});
      throw error;
    }
  }

  /** The tree that the engine's parser makes of one statement, which is not run. Throws if it is not exactly one. */
  async readTree(sql: string): Promise<string> {
    const question = `EXPLAIN AST ${sql}`;
    try {
      this.session.queryStream(question, { format: "TSVRaw" }).cancel();
    } catch (error) {
      // This call takes a single statement and then complains that it is no SELECT. Any other fault comes before that.
      if (!(error instanceof Error) || !/\bCode: 36\b/.test(error.message)) throw error;
    }
    return Buffer.from(await this.run(question, "TSVRaw")).toString();
  }

  /** Changes settings for one statement. */
  async apply(settings: Settings): Promise<void> {
    const changed = this.changedBy(settings);
    if (changed.length > 0) await this.run(`SET ${formatSettings(changed)}`, "Null");
  }

  /** Undoes `apply`: a setting left behind would silently change the next statement on this lane. */
  async restore(settings: Settings): Promise<void> {
    const parts = this.changedBy(settings).map(([name]) => {
      const own = this.settings.get(name);
      return `${name} = ${own === undefined ? "DEFAULT" : quote(own)}`;
    });
    if (parts.length === 0) return;
    await this.run(`SET ${parts.join(", ")}`, "Null").catch(async () => {
      // One of them is not a setting; the others were set all the same.
      for (const part of parts) await this.run(`SET ${part}`, "Null").catch(() => {});
    });
  }

  close(): void {
    this.session.close();
  }

  private changedBy(settings: Settings): [name: string, value: string][] {
    return [...settings].filter(([name, value]) => this.settings.get(name) !== value);
  }
}
