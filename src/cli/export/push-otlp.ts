// Lines of OTLP requests → another receiver.

import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { postRequest, type Receiver, RequestRefused, sayPartial } from "#archive/otlp/post-request.ts";
import { defaultJsonLimits } from "#base/json/value.ts";
import type { Context } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatCount } from "#cli/format.ts";
import { printLine } from "#cli/print.ts";
import { signalOfText } from "#protocol/otlp/signal-of.ts";
import { JsonRequest } from "#wire/otlp/json-request.ts";
import { withoutPauses } from "#wire/otlp/request-pieces.ts";

const attemptsMax = 8;

/** `name=value` as OpenTelemetry's own variables write headers. */
export function toHeaders(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      if (at <= 0) throw new Exit(exitCodes.usage, `A header is name=value, not ${JSON.stringify(word)}.`);
      return [word.slice(0, at).trim().toLowerCase(), word.slice(at + 1).trim()];
    }),
  );
}

export async function pushLines(context: Context, response: Response, receiver: Receiver): Promise<void> {
  let requests = 0;
  let rejected = 0;
  const input = Readable.fromWeb(response.body as never);
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const signal = signalOfText(line);
    if (signal === null) continue;
    const json = new JsonRequest(signal, Buffer.from(line), defaultJsonLimits);
    if (json.refusal() !== null) continue;
    for (const body of withoutPauses(json.pieces(Number.POSITIVE_INFINITY))) {
      const partial = await send(context, receiver, { signal, body });
      requests++;
      rejected += partial?.rejected ?? 0;
      if (partial !== null) context.stderr.write(`${sayPartial(receiver, signal, partial)}\n`);
    }
  }
  printLine(context, `${formatCount(requests, "request")} sent to ${receiver.url}`);
  if (rejected === 0) return;
  const message = `${formatCount(rejected, "record")} of what was sent ${rejected === 1 ? "was" : "were"} rejected`;
  throw new Exit(exitCodes.negative, `${message}.`, "They are not sent again; look at the receiver's log.");
}

async function send(
  context: Context,
  receiver: Receiver,
  request: Parameters<typeof postRequest>[1],
): ReturnType<typeof postRequest> {
  try {
    return await postRequest(receiver, request, {
      signal: context.stop,
      attemptsMax,
      onRetry: (reason, afterMs) => context.stderr.write(`${reason}; trying again in ${afterMs / 1000} s\n`),
    });
  } catch (error) {
    const isRefused = error instanceof RequestRefused;
    const hint = isRefused ? "Look at the receiver's log." : "Is the receiver running there?";
    throw new Exit(isRefused ? exitCodes.negative : exitCodes.outage, (error as Error).message, hint);
  }
}
