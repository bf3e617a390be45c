// Attribute names from OpenTelemetry's conventions that are shown as more than attributes: those of calls to language models,
// and those that say where a process ran and from which source. Some have changed; the current name comes first.

export const modelCallAttributes = {
  operation: ["gen_ai.operation.name"],
  model: ["gen_ai.response.model", "gen_ai.request.model"],
  provider: ["gen_ai.provider.name", "gen_ai.system"],
  input_tokens: ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
  output_tokens: ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
} as const;

/** By the names that other clients use for the same. */
export const sourceAttributes = {
  git_commit: ["vcs.ref.head.revision", "vcs.repository.ref.revision"],
  git_branch: ["vcs.ref.head.name", "vcs.repository.ref.name"],
  git_remote: ["vcs.repository.url.full"],
} as const;

const environmentStarts = [
  "host.",
  "os.",
  "process.",
  "container.",
  "k8s.",
  "cloud.",
  "device.",
  "deployment.",
  "telemetry.sdk.",
  "service.version",
] as const;

/** Whether an attribute of a resource says where its process ran. */
export function isOfEnvironment(name: string): boolean {
  return environmentStarts.some((start) => name.startsWith(start));
}
