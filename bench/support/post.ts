// Gzipped bodies of traces, posted as SDKs do.

import { Agent, request } from "node:http";

export interface Posted {
  readonly latencyMs: number[];
  /** Answers that are not 2xx. */
  readonly refused: number;
}

/** Over some connections, on each the next body as soon as the one before it is answered; none are begun after the time. */
export async function postAll(
  url: string,
  bodies: Iterable<Buffer>,
  { connections = 4, type = "application/json", timeoutMs = Number.POSITIVE_INFINITY } = {},
): Promise<Posted> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const queue = bodies[Symbol.iterator]();
  const latencyMs: number[] = [];
  let refused = 0;
  const until = performance.now() + timeoutMs;
  const post = async (): Promise<void> => {
    while (performance.now() < until) {
      const next = queue.next();
      if (next.done === true) return;
      const began = performance.now();
      const status = await postTraces(url, agent, next.value, { type });
      latencyMs.push(performance.now() - began);
      if (status < 200 || status > 299) refused++;
    }
  };
  await Promise.all(Array.from({ length: connections }, post));
  agent.destroy();
  return { latencyMs, refused };
}

/** Resolves with the status. */
export function postTraces(
  url: string,
  agent: Agent,
  body: Buffer,
  { query = "", type = "application/json" }: { readonly query?: string; readonly type?: string } = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": type,
      "content-encoding": "gzip",
      "content-length": body.length,
      authorization: "Bearer bench",
    };
    const call = request(`${url}/v1/traces${query}`, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    call.once("error", reject);
    call.end(body);
  });
}
