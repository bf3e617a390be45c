// The transport of a choice.

import { openFile, openNull, openStdio } from "./descriptor.ts";
import type { TransportChoice } from "./settings.ts";
import { openSocket } from "./socket.ts";
import type { Transport, TransportEvents } from "./transport.ts";
import { openWebSocket } from "./web-socket.ts";

export function openTransport(choice: TransportChoice, apiKey: string, events: TransportEvents): Transport {
  switch (choice.kind) {
    case "tcp":
      return openSocket({ host: choice.host, port: choice.port }, events);
    case "unix":
      return openSocket({ path: choice.path }, events);
    case "ws":
      return openWebSocket(choice.url, apiKey, events);
    case "stdio":
      return openStdio(choice.fd, choice.readsStdin, events);
    case "file":
      return openFile(choice.path, events);
    case "null":
      return openNull(events);
  }
}

/** A description for people. */
export function describe(choice: TransportChoice): string {
  switch (choice.kind) {
    case "tcp":
      return `${choice.host}:${choice.port}`;
    case "unix":
    case "file":
      return choice.path;
    case "ws":
      return choice.url;
    case "stdio":
    case "null":
      return choice.kind;
  }
}
