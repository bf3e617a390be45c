// A firing as a message: Alertmanager's webhook (version 4), a chat text, or a mail.

import { createHmac } from "node:crypto";
import type { Firing } from "./firing.ts";

export type MessageEvent = "firing" | "resolved";

export interface Message {
  readonly event: MessageEvent;
  readonly firing: Firing;
  readonly runName: string;
  /** Of the run on the page. */
  readonly link: string;
}

/** The address of a receiver says which shape it wants. */
export function bodyFor(target: string, message: Message): Record<string, unknown> {
  const { hostname, pathname } = new URL(target);
  if (hostname === "hooks.slack.com") return { text: toText(message) };
  if (/(^|\.)discord(app)?\.com$/.test(hostname) && pathname.startsWith("/api/webhooks/"))
    return { content: toText(message).slice(0, 2000).toWellFormed() };
  if (/\.(webhook\.office|logic\.azure|powerplatform)\.com$/.test(hostname)) return toTeams(message);
  return toAlertmanager(message);
}

export function titleOf({ event, firing, runName }: Message): string {
  return `${event === "resolved" ? "Resolved" : "Firing"}: ${firing.rule} on ${runName}`;
}

export function toText(message: Message): string {
  const { firing, link } = message;
  const lines = [titleOf(message), firing.text, ...firing.evidence.map((line) => `- ${line}`)];
  return [...lines, ...sayCommands(firing), link].join("\n");
}

function sayCommands({ actions }: Firing): string[] {
  const types = actions.commands.map(({ type }) => type);
  return types.length === 0 ? [] : [`Sent to its workers: ${types.join(", then ")}.`];
}

function toTeams(message: Message): Record<string, unknown> {
  const content = {
    type: "AdaptiveCard",
    version: "1.4",
    body: toText(message)
      .split("\n")
      .map((text, at) => ({ type: "TextBlock", text, wrap: true, ...(at === 0 ? { weight: "Bolder" } : {}) })),
  };
  return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }] };
}

const never = "0001-01-01T00:00:00Z";

/** What Alertmanager posts to a webhook, so that its receivers understand it as it is. */
function toAlertmanager({ event, firing, runName, link }: Message): Record<string, unknown> {
  const labels = {
    alertname: firing.rule,
    kind: firing.kind,
    workspace: firing.workspace,
    run: firing.runId,
    run_name: runName,
    ...(firing.metric === "" ? {} : { metric: firing.metric }),
  };
  const annotations = {
    summary: firing.text,
    description: firing.evidence.join("; "),
    ...(firing.at.step === null ? {} : { step: firing.at.step.toString() }),
  };
  const alert = {
    status: event,
    labels,
    annotations,
    startsAt: toTime(firing.firedNs),
    endsAt: firing.resolvedNs === null ? never : toTime(firing.resolvedNs),
    generatorURL: link,
    fingerprint: firing.id.slice(0, 16),
  };
  return {
    version: "4",
    groupKey: `{}:{alertname="${firing.rule}", run="${firing.runId}"}`,
    truncatedAlerts: 0,
    status: event,
    receiver: "tributary",
    groupLabels: { alertname: firing.rule },
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: new URL(link).origin,
    alerts: [alert],
  };
}

function toTime(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString();
}

/** `t=<seconds>,v1=<hex>`: HMAC-SHA-256 over `<seconds>.<body>`, so that a receiver can refuse what is old or forged. */
export function toSignature(body: string, secret: Uint8Array, atMs: number): string {
  const seconds = Math.floor(atMs / 1000);
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}
