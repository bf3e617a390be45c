// The sender in its own thread: a training loop that never yields still gets its batches sent.

import { parentPort, workerData } from "node:worker_threads";
import { Sender, type SenderOptions } from "./sender.ts";

export type SenderCommand = { readonly kind: "wake" } | { readonly kind: "drain"; readonly timeoutMs: number };

export type SenderReply = {
  readonly kind: "counts" | "drained";
  readonly sent: number;
  readonly refused: number;
  readonly waiting: number;
};

if (parentPort !== null) serve(parentPort, workerData as SenderOptions);

function serve(port: NonNullable<typeof parentPort>, options: SenderOptions): void {
  const sender = new Sender(options);
  sender.wake();
  port.on("message", (command: SenderCommand) => {
    if (command.kind === "wake") {
      sender.wake();
      port.postMessage({ kind: "counts", ...sender.counts } satisfies SenderReply);
      return;
    }
    void sender.drain(command.timeoutMs).then(() => {
      port.postMessage({ kind: "drained", ...sender.counts } satisfies SenderReply);
    });
  });
}
