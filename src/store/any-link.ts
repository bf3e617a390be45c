// Several addresses of one store: the servers of a cluster. One is used until it fails; then the next.

import { createLink, type HttpLink } from "./http-link.ts";
import { StoreOutage } from "./outage.ts";

/** What a connection fails with that was never made: nothing was sent, so another server may be asked at once. */
const neverMade: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

export function createAnyLink(urls: readonly URL[]): HttpLink {
  const links = urls.map((url) => createLink({ url }));
  let at = 0;
  return {
    async send(request) {
      for (let tries = 1; ; tries++) {
        const mine = at;
        try {
          return await (links[mine] as HttpLink).send(request);
        } catch (error) {
          if (!(error instanceof StoreOutage) || error.kind !== "engine_down") throw error;
          if (at === mine) at = (mine + 1) % links.length;
          const { code = "" } = (error.cause ?? {}) as NodeJS.ErrnoException;
          if (tries >= links.length || !neverMade.has(code)) throw error;
        }
      }
    },
    close() {
      for (const link of links) link.close();
    },
  };
}

/** `http://a:8123,http://b:8123`. */
export function parseStoreUrls(text: string): URL[] {
  return text.split(",").map((one) => new URL(one.trim()));
}
