// Requests of a wrapper that no server takes at the moment: on disk, or in memory if the disk does not take them either.
// Memory has a bound; requests beyond it are lost and counted.

import type { Client } from "#cli/client.ts";
import { replayFolder, type SpooledRequest, sendRequest, writeRequest } from "./spool.ts";

export interface KeptOptions {
  readonly client: Client;
  /** Where requests wait that cannot be sent. */
  readonly folder: string;
  /** How much of what the disk does not take is held. */
  readonly heldBytesMax: number;
  /** Told once, with the system's code. */
  onUnwritable(code: string | undefined): void;
}

/** Requests that no server has taken. */
export interface Left {
  /** They wait on disk for a server. */
  readonly spooled: number;
  /** Neither the disk nor memory could keep them. */
  readonly lost: number;
}

export class KeptRequests {
  private readonly options: KeptOptions;
  private readonly held: SpooledRequest[] = [];
  private heldBytes = 0;
  private spooled = 0;
  private written = 0;
  private lost = 0;
  private isWritable = true;

  constructor(options: KeptOptions) {
    this.options = options;
  }

  get isEmpty(): boolean {
    return this.spooled + this.held.length === 0;
  }

  /** What is left of them when nobody waits any longer. */
  get left(): Left {
    return { spooled: this.spooled, lost: this.lost + this.held.length };
  }

  async add(request: SpooledRequest): Promise<void> {
    try {
      await writeRequest(this.options.folder, this.written++, request);
      this.spooled++;
    } catch (error) {
      if (this.isWritable) this.options.onUnwritable((error as NodeJS.ErrnoException).code);
      this.isWritable = false;
      this.hold(request);
    }
  }

  /** Sends all of them; rejects at the first that the server does not take now. */
  async drain(): Promise<void> {
    const { client, folder } = this.options;
    // A server that has just started may have taken some of them from the folder by itself.
    if (this.spooled > 0) await replayFolder(client, folder);
    this.spooled = 0;
    for (let first = this.held[0]; first !== undefined; first = this.held[0]) {
      await sendRequest(client, first);
      this.held.shift();
      this.heldBytes -= first.body.length;
    }
  }

  private hold(request: SpooledRequest): void {
    if (this.heldBytes + request.body.length > this.options.heldBytesMax) {
      this.lost++;
      return;
    }
    this.held.push(request);
    this.heldBytes += request.body.length;
  }
}
