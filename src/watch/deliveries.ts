// Messages about firings, until their receivers have taken them. Each is stored before it is sent, so that a restart loses
// none; if nobody knows whether one was taken, it is sent again under the same id. A target gets one message at a time, the
// oldest first, and no target waits for another.

import { setTimeout as wait } from "node:timers/promises";
import type { StateChange, StateRow } from "#model/state-tables.ts";
import type { Firing } from "./firing.ts";
import { type MailServer, sendMail } from "./mail.ts";
import { bodyFor, type Message, type MessageEvent, titleOf, toSignature, toText } from "./messages.ts";
import { post, type Reach, Unreachable } from "./reach.ts";

export type DeliveryRow = StateRow<"deliveries">;

export interface DeliveryPorts {
  readonly collector: string;
  readonly secret: Uint8Array;
  readonly reach: Reach;
  /** Null when there is no mail server. */
  readonly mail: MailServer | null;
  nowNs(): bigint;
  linkOf(runId: string): string;
  /** Resolves when it is durable. */
  change(changes: readonly StateChange[], workspace: string): Promise<void>;
  onTrouble(message: string, cause: unknown): void;
}

interface Queued {
  row: DeliveryRow;
  readonly firing: Firing;
  readonly runName: string;
  /** The target, the rule and the run. */
  readonly about: string;
}

const sendMs = 15_000;
const closeMs = 2000;
/** Targets that are sent to at the same time. */
const sendingMax = 64;
const backOffMs = 5_000;
const backOffMsMax = 3_600_000;
/** About a day. */
const attemptsMax = 30;

export class Deliveries {
  private readonly ports: DeliveryPorts;
  private readonly queued = new Map<string, Queued>();
  /** By target. */
  private readonly sending = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(ports: DeliveryPorts) {
    this.ports = ports;
  }

  /** The rows to be stored with the firing itself; `queue` is to be called when they are. */
  rowsFor(firing: Firing, event: MessageEvent): DeliveryRow[] {
    if (!firing.isArmed) return [];
    const { webhooks, emails } = firing.actions;
    const nowNs = this.ports.nowNs();
    return [...webhooks, ...emails.map((address) => `mailto:${address}`)].map((target, at) => ({
      delivery_id: `${firing.id}.${event}.${at}`,
      firing_id: firing.id,
      workspace: firing.workspace,
      collector: this.ports.collector,
      target,
      event,
      state: "queued",
      attempts: 0,
      next_ns: nowNs,
      note: "",
      version: nowNs,
    }));
  }

  queue(rows: readonly DeliveryRow[], firing: Firing, runName: string): void {
    for (const row of rows) {
      const about = JSON.stringify([row.target, firing.workspace, firing.rule, firing.runId]);
      this.queued.set(row.delivery_id, { row, firing, runName, about });
    }
    this.plan();
  }

  /** Messages under way get a moment to finish; the rest is sent after the next start. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    const underWay = Promise.all(this.sending.values());
    await Promise.race([underWay, wait(closeMs, undefined, { ref: false })]);
  }

  /** Sends what is due, and looks again when more is. */
  private plan(): void {
    clearTimeout(this.timer);
    if (this.isClosed) return;
    const waiting = this.readyToSend();
    const nowNs = this.ports.nowNs();
    let nextNs = 2n ** 62n;
    for (const one of waiting) {
      const { target, next_ns } = one.row;
      // When a message under way ends, this is called again.
      if (this.sending.has(target) || this.sending.size >= sendingMax) continue;
      if (next_ns <= nowNs) this.start(one);
      else if (next_ns < nextNs) nextNs = next_ns;
    }
    if (nextNs === 2n ** 62n) return;
    const waitMs = Math.min(backOffMsMax, Math.max(0, Number((nextNs - nowNs) / 1_000_000n)));
    this.timer = setTimeout(() => this.plan(), waitMs);
    this.timer.unref();
  }

  /**
   * The first message to each target about each rule and run: `resolved` must not arrive before `firing`. One that was put off
   * holds up no message about anything else.
   */
  private readyToSend(): Queued[] {
    const first = new Map<string, Queued>();
    for (const one of this.queued.values()) {
      if (!first.has(one.about)) first.set(one.about, one);
    }
    return [...first.values()];
  }

  private start(queued: Queued): void {
    const { target } = queued.row;
    const sent = this.sendOne(queued).finally(() => {
      this.sending.delete(target);
      this.plan();
    });
    this.sending.set(target, sent);
  }

  private async sendOne(queued: Queued): Promise<void> {
    const { row } = queued;
    const note = await this.send(queued).then(() => "", toNote);
    const attempts = row.attempts + 1;
    const isOver = note !== "" && (attempts >= attemptsMax || note.startsWith(refused));
    const waitMs = Math.min(backOffMsMax, backOffMs * 2 ** (attempts - 1));
    const version = this.ports.nowNs();
    const state = note === "" ? "sent" : isOver ? "given_up" : "queued";
    const next: DeliveryRow = {
      ...row,
      attempts,
      note,
      state,
      version,
      next_ns: version + BigInt(waitMs) * 1_000_000n,
    };
    if (state === "queued") queued.row = next;
    else this.queued.delete(row.delivery_id);
    await this.ports
      .change([{ table: "deliveries", row: next }], row.workspace)
      .catch((cause) => this.ports.onTrouble("The outcome of a rule's message could not be recorded.", cause));
  }

  private async send({ row, firing, runName }: Queued): Promise<void> {
    const { mail, reach, secret } = this.ports;
    const message: Message = {
      event: row.event as MessageEvent,
      firing,
      runName,
      link: this.ports.linkOf(firing.runId),
    };
    if (row.target.startsWith("mailto:")) {
      if (mail === null) throw new Unreachable("No mail server is set (watch.mail_server).");
      const to = row.target.slice("mailto:".length);
      return sendMail(mail, { to, subject: titleOf(message), text: toText(message) }, reach);
    }
    const body = JSON.stringify(bodyFor(row.target, message));
    const headers = {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "user-agent": "tributary",
      "x-tributary-delivery": row.delivery_id,
      "x-tributary-signature": toSignature(body, secret, Date.now()),
    };
    const { status, text } = await post({ url: row.target, body, headers, timeoutMs: sendMs }, reach);
    if (status >= 300 && status < 400) throw new Unreachable(`The receiver answered with a redirect (${status}).`);
    if (status < 200 || status >= 300) throw new Error(`The receiver answered ${status} ${text.slice(0, 200)}`.trim());
  }
}

const refused = "Not sent: ";

/** The note of an attempt that will never work begins with `refused`, and it is not tried again. */
function toNote(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return cause instanceof Unreachable ? `${refused}${text}` : text || "It failed without a reason.";
}
