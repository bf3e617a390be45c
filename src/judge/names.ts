// Usual names of metrics and spans. Other names are not guessed at.

/** What a training minimises. */
export function isLoss(key: string): boolean {
  return /(^|[_/.-])(loss|nll|perplexity|ppl)([_/.-]|$)/i.test(key) && !/scale/i.test(key);
}

export function isLearningRate(key: string): boolean {
  return /(^|[_/.-])(lr|learning_rate)([_/.-]|\d*$)/i.test(key);
}

/** How long one step took, as measured by the client. The SQL that reads a run again uses the same pattern. */
export const stepTimes = "(^|[_/.-])(step|iter|iteration|batch)_(time|ms|seconds|duration)(_ms|_s)?$";
const stepTimeTest = new RegExp(stepTimes, "i");

export function isStepTime(key: string): boolean {
  return stepTimeTest.test(key);
}

/** How long one step waited for its data, as measured by the client. */
export function isDataTime(key: string): boolean {
  return /(^|[_/.-])(data|dataloader|data_load|load|fetch)_(time|ms|seconds|wait|duration)(_ms|_s)?$/i.test(key);
}

export function isGpuUse(key: string): boolean {
  return /(^|[_/.-])gpu[_/.-]?\d*[_/.-](percent|util|utili[sz]ation)(_percent|_percentage)?$/i.test(key);
}

export const stepSpan = "step";
/** Spans inside a step. The SQL that sums waiting and saving uses the same patterns. */
export const dataSpans = "^(data_load|data_loading|dataloader|load_batch|next_batch|fetch)$";
export const waitSpans = "(all_?reduce|all_?gather|reduce_?scatter|barrier|sync|collective|broadcast)";
export const saveSpans = "(checkpoint|save_model|save_state)";
const computeSpans: readonly (readonly string[])[] = [
  ["forward_backward"],
  ["forward", "forward_pass"],
  ["backward", "backward_pass"],
  ["optimizer_step", "optimizer", "optimizer.step"],
];

/** The parts of a step's computing; none contains another. */
export function computingOf(names: ReadonlySet<string>): string[] {
  const whole = names.has("forward_backward");
  return computeSpans.flatMap((group, at) => {
    const isInside = whole && (at === 1 || at === 2);
    return isInside ? [] : group.filter((name) => names.has(name)).slice(0, 1);
  });
}
