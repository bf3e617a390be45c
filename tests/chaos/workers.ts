// XTrack workers that ask for acks, keep what was not acked and send it again on their next connection.

import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { createWebSocketStream, WebSocket } from "ws";
import { DocumentClient, type DocumentClientOptions, type Envelope } from "../clients/xtrack-document-client.ts";
import type { Field } from "./deliver.ts";
import type { Victim } from "./victim.ts";

export interface WorkerPlan {
  readonly runId: string;
  readonly wid: string;
  /** How it connects; by TCP unless said. */
  readonly by?: "tcp" | "websocket";
  /** It asks for commands as well, and confirms them. */
  readonly isSteered?: boolean;
}

/** How long a worker waits for answers when there is nothing left to send. */
const lastWordMs = 120_000;
const answersMax = 100;

/** Gives the ids of all points that were sent. */
export async function sendPoints(field: Field, plan: WorkerPlan): Promise<readonly string[]> {
  const worker = new Worker(field, plan);
  while (!worker.isDone()) {
    // What a server said before it was killed may be read after that: the line tells which one said it.
    const { kills } = field.victim;
    const line = await open(field.victim, plan.by ?? "tcp");
    if (line === null) await sleep(50);
    else await worker.work(line, kills);
  }
  return worker.sent;
}

async function open(victim: Victim, by: "tcp" | "websocket"): Promise<Duplex | null> {
  if (by === "tcp") {
    const socket = connect(victim.xtrackPort, "127.0.0.1");
    return once(socket, "connect").then(
      () => socket,
      () => null,
    );
  }
  const socket = new WebSocket(`${victim.url.replace("http", "ws")}/v1/xtrack`);
  return once(socket, "open").then(
    () => createWebSocketStream(socket),
    () => null,
  );
}

class Worker {
  private readonly field: Field;
  private readonly plan: WorkerPlan;
  readonly sent: string[] = [];
  private readonly waiting = new Map<number, Envelope>();
  /** Nobody acks an answer to a command, so the last of them are given again on the next connection. */
  private answers: Envelope[] = [];
  private nextSeq = 1;
  private stoppedMs: number | null = null;

  constructor(field: Field, plan: WorkerPlan) {
    this.field = field;
    this.plan = plan;
  }

  isDone(): boolean {
    if (!this.field.stopped.aborted) return false;
    this.stoppedMs ??= performance.now();
    const hasAllCommands = this.plan.isSteered !== true || this.field.commands.isAllHeard;
    return (this.waiting.size === 0 && hasAllCommands) || performance.now() - this.stoppedMs > lastWordMs;
  }

  /** Until the line is gone, or all is said. */
  async work(line: Duplex, kills: number): Promise<void> {
    const { runId, wid, isSteered } = this.plan;
    const accepts = isSteered ? ["ack", "command"] : ["ack"];
    const options: DocumentClientOptions = { runId, wid, accepts, firstSeq: this.nextSeq };
    const client = new DocumentClient(line, options);
    client.runStart();
    for (const event of [...this.waiting.values(), ...this.answers]) client.send(event);
    while (!line.destroyed && !this.isDone()) {
      for (let n = 0; n < 20 && !this.field.stopped.aborted && this.waiting.size < 2000; n++) this.measure(client);
      await sleep(10 + this.field.pauseMs);
      this.hear(client, kills);
    }
    this.hear(client, kills);
    this.nextSeq = client.nextSeq;
    line.destroy();
  }

  private measure(client: DocumentClient<Duplex>): void {
    const value = client.nextSeq / 2;
    const event = client.metric("loss", value, client.nextSeq);
    this.waiting.set(event.m.seq, event);
    this.sent.push(this.toId(event));
    this.field.ledger.send("points", this.toId(event), value);
  }

  private hear(client: DocumentClient<Duplex>, kills: number): void {
    for (const { t, p } of client.received.splice(0)) {
      if (t === "command") this.obey(client, p, kills);
      if (t !== "ack" || p["status"] === "error") continue;
      const event = this.waiting.get(Number(p["seq"]));
      if (event === undefined) continue;
      this.waiting.delete(event.m.seq);
      this.field.ledger.acknowledge("points", [this.toId(event)]);
    }
  }

  private obey(client: DocumentClient<Duplex>, command: Envelope["p"], kills: number): void {
    const { number } = command["payload"] as { number: number };
    this.field.commands.hear(String(command["cmd_id"]), number, kills);
    this.answers = [...this.answers.slice(-answersMax), client.confirm(command["cmd_id"])];
  }

  private toId({ m }: Envelope): string {
    return `${this.plan.runId}/${this.plan.wid}/${m.seq}`;
  }
}
