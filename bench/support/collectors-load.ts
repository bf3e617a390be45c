// Trainings for one or several collectors of one store, each training sent to one of them as a load balancer would, and
// what they cost each collector.

import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createCirronCopies } from "./cirron-load.ts";
import { postTraces } from "./post.ts";
import { type BenchServer, startServer } from "./server.ts";

/** Makes a different training each time. */
const copies = createCirronCopies();

export interface Taken {
  readonly spans: number;
  /** Seconds until all of it can be queried. */
  readonly seconds: number;
  /** Processor time of each collector. */
  readonly cpuMs: readonly number[];
}

const connections = 4;
/** The other collectors still receive notices for a moment after everything is stored. */
const hearMs = 2000;

/**
 * Sends whole trainings, so that none begins at one collector and ends at another. `idle` collectors receive nothing; their
 * processor time follows that of the others.
 */
export async function giveSpans(
  takers: readonly BenchServer[],
  spansMin: number,
  idle: readonly BenchServer[] = [],
): Promise<Taken> {
  const all = [...takers, ...idle];
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const before = await Promise.all(all.map((server) => server.usage()));
  const startMs = performance.now();
  let spans = 0;
  let isEnough = false;
  const send = async (): Promise<void> => {
    while (!isEnough) {
      const { value } = copies.next();
      spans += value.spans;
      isEnough = value.isLast && spans >= spansMin;
      const { url } = takers[value.training % takers.length] as BenchServer;
      const status = await postTraces(url, agent, value.body);
      if (status !== 202) throw new Error(`a batch was answered with ${status}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  for (const taker of takers) await taker.drained();
  const seconds = (performance.now() - startMs) / 1000;
  await sleep(hearMs);
  agent.destroy();
  const after = await Promise.all(all.map((server) => server.usage()));
  return { spans, seconds, cpuMs: after.map(({ server }, at) => server.cpuMs - (before[at]?.server.cpuMs ?? 0)) };
}

type Settings = Readonly<Record<string, string>>;

/** A store and a bus that nobody else uses, and how a collector is told of them. */
export interface Installation {
  readonly store: Settings;
  readonly bus: Settings;
  close(): Promise<void>;
}

export interface Scaling {
  readonly alone: Taken;
  /** Three on one store without a bus: they do nothing for each other. */
  readonly apart: Taken;
  readonly together: Taken;
}

const warmSpans = 100_000;
const collectors = 3;

/**
 * Spans to one collector, and three times as many to three, so that each takes as many as the one did and what a process
 * pays once weighs the same. Three on the cores of one machine also wait for each other's caches, and take longer by the
 * clock: what they do for each other is what those do not pay that share nothing but the machine and the store.
 */
export async function measureScaling(open: () => Promise<Installation>, spans: number): Promise<Scaling> {
  return {
    alone: await takeTogether(open, 1, spans, ({ bus }) => bus),
    apart: await takeTogether(open, collectors, spans, ({ store }) => store),
    together: await takeTogether(open, collectors, spans, ({ bus }) => bus),
  };
}

async function takeTogether(
  open: () => Promise<Installation>,
  count: number,
  spans: number,
  settingsOf: (installation: Installation) => Settings,
): Promise<Taken> {
  const installation = await open();
  const env = { ...settingsOf(installation), TRIBUTARY_LOG_LEVEL: "error" };
  const servers = await Promise.all(Array.from({ length: count }, () => startServer({ env })));
  for (const server of servers) await giveSpans([server], warmSpans);
  const taken = await giveSpans(servers, spans * count);
  for (const server of servers) await server.close();
  await installation.close();
  return taken;
}

export interface Idling {
  readonly spans: number;
  readonly takerUs: number;
  readonly idleUs: number;
  /** Memory of the collector that receives nothing: before, at its peak, and in the end. */
  readonly idleMiB: readonly [number, number, number];
}

/** One collector takes spans, and another hears of them. */
export async function measureIdling(env: Settings, spansMin: number): Promise<Idling> {
  const [taker, idle] = [await startServer({ env }), await startServer({ env })];
  // Once, so that what every process needs for hearing is there.
  await giveSpans([taker], warmSpans, [idle]);
  const { nowMiB: before } = (await idle.usage()).server;
  const { spans, cpuMs } = await giveSpans([taker], spansMin, [idle]);
  const { nowMiB, peakMiB } = (await idle.usage()).server;
  await taker.close();
  await idle.close();
  const us = (ms = 0): number => (ms * 1000) / spans;
  return { spans, takerUs: us(cpuMs[0]), idleUs: us(cpuMs[1]), idleMiB: [before, peakMiB, nowMiB] };
}
