// The messages between the server and its engine process.

import type { GuestLimits } from "./engine-config.ts";
import type { LiveOwner } from "./owner.ts";

export interface EngineOptions {
  readonly dataDir: string;
  readonly socketPath: string;
  readonly memoryBytesMax: number;
  readonly guest: GuestLimits;
  /** Opened for one command, so another start waits longer for the folder. */
  readonly isBrief?: boolean;
}

export type ToEngine =
  | { readonly kind: "start"; readonly options: EngineOptions; readonly serverPid: number }
  | { readonly kind: "ping"; readonly serial: number }
  | { readonly kind: "stop" };

export type FromEngine =
  | { readonly kind: "ready" }
  /** Another process has the folder; null when it is not known which. */
  | { readonly kind: "taken"; readonly owner: LiveOwner | null }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "pong"; readonly serial: number; readonly load: EngineLoad };

export type EngineLoad = Readonly<Record<string, { readonly busy: number; readonly waiting: number }>>;
