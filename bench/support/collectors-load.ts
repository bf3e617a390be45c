// Trainings given to one or several collectors of one store, each training to one of them as a balancer gives it, and what
// they cost each collector.

import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createCirronCopies } from "./cirron-load.ts";
import { postTraces } from "./post.ts";
import { type BenchServer, startServer } from "./server.ts";

/** No training comes twice in a process. */
const copies = createCirronCopies();

export interface Taken {
  readonly spans: number;
  /** Until all of it can be asked for. */
  readonly seconds: number;
  /** Processor time of each collector. */
  readonly cpuMs: readonly number[];
}

const connections = 4;
/** Others hear of what is stored for a moment longer. */
const hearMs = 2000;

/** `idle` are collectors that take nothing: their processor time stands behind that of the others. */
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
  const send = async (): Promise<void> => {
    while (spans < spansMin) {
      const { value } = copies.next();
      spans += value.spans;
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

export interface Scaling {
  readonly spans: number;
  readonly alone: Taken;
  readonly together: Taken;
}

const warmSpans = 100_000;

/** The same number of spans to one collector, and to three that share them. */
export async function measureScaling(env: Readonly<Record<string, string>>, spans: number): Promise<Scaling> {
  const first = await startServer({ env });
  await giveSpans([first], warmSpans);
  const alone = await giveSpans([first], spans);
  const others = [await startServer({ env }), await startServer({ env })];
  for (const other of others) await giveSpans([other], warmSpans);
  const together = await giveSpans([first, ...others], spans);
  for (const server of [first, ...others]) await server.close();
  return { spans, alone, together };
}

export interface Idling {
  readonly spans: number;
  readonly takerUs: number;
  readonly idleUs: number;
  /** Memory of the one that takes nothing: before, at its most, and in the end. */
  readonly idleMiB: readonly [number, number, number];
}

/** One collector takes spans, and another hears of them. */
export async function measureIdling(env: Readonly<Record<string, string>>, spansMin: number): Promise<Idling> {
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
