// Whether a failure means that the server is away, perhaps only for a restart, so that it is worth waiting for.

import { ApiError } from "./client.ts";
import { Exit, exitCodes } from "./exit.ts";

export function isAway(error: unknown): boolean {
  return (
    (error instanceof Exit && error.code === exitCodes.outage) || (error instanceof ApiError && error.status >= 500)
  );
}
