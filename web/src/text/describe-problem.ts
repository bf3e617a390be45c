// What is wrong with the records of a pipeline or launch, in words.

/** `missing_run_space_end` says that the end of the run space is missing. */
export function describeProblem(code: string): string {
  const missing = /^missing_(.+)_(start|end)$/.exec(code);
  if (missing !== null) return `the ${missing[2]} of the ${words(missing[1] ?? "")} is missing`;
  return code === "start_time_gt_end_time" ? "it ends before it starts" : words(code);
}

function words(code: string): string {
  return code.replaceAll("_", " ");
}
