// XTrack protocol version 1: the words that the document lists.
// Words outside the lists are not errors: they are kept as sent and flagged.

export const protocolVersion = 1;

export const words = {
  end: ["completed", "failed", "killed"],
  phase: ["train", "val", "test"],
  agg: ["mean", "sum", "last"],
  artifact: [
    "model",
    "checkpoint",
    "weights",
    "config",
    "plot",
    "figure",
    "image",
    "data",
    "predictions",
    "embeddings",
    "log",
    "profile",
    "other",
  ],
  upload: ["reference", "inline", "stream"],
  status: [
    "initializing",
    "running",
    "training",
    "evaluating",
    "checkpointing",
    "paused",
    "resuming",
    "finishing",
    "completed",
    "failed",
    "killed",
  ],
  level: ["debug", "info", "warning", "error"],
  command: ["pause", "resume", "stop", "checkpoint_now", "update_params", "adjust_lr", "custom"],
  ack: ["ok", "error"],
} as const;
