// Whether a NATS server lets this installation in, for a check before a collector starts.

import { Bus } from "#bus/bus.ts";
import type { Config } from "#config/settings.ts";

/** Why it does not; empty if it does. */
export async function whyNoBus(
  url: string,
  { busUser: user, busPassword: password, busPrefix: prefix }: Pick<Config, "busUser" | "busPassword" | "busPrefix">,
  timeoutMs: number,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(resolve, timeoutMs, "no answer in time");
  const bus = new Bus({
    ...{ url, user, password, prefix },
    self: "doctor",
    onChange: (isConnected) => {
      if (isConnected) resolve("");
    },
    onTrouble: (message, cause) => resolve(cause instanceof Error ? cause.message : message),
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await bus.close();
  }
}
