// The tabs of a run, in the order they are drawn.

export const runTabs = [
  ["", "Overview"],
  ["charts", "Charts"],
  ["timeline", "Timeline"],
  ["tensors", "Tensors"],
  ["pipeline", "Pipeline"],
  ["logs", "Logs"],
  ["files", "Files"],
  ["params", "Params & env"],
  ["events", "Events"],
  ["control", "Control"],
  ["integrity", "Integrity"],
  ["post-mortem", "Post-mortem"],
] as const;

export type RunTab = (typeof runTabs)[number][0];
