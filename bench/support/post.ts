// One gzipped body of traces, posted as SDKs do.

import { type Agent, request } from "node:http";

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
