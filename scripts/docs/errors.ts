// docs/errors.md: every fault code, from the one table in src/model/fault.ts, and every code of a refused request, from
// src/api/refusal-kinds.ts.

import { type RefusalKind, refusalKinds } from "#api/refusal-kinds.ts";
import { type FaultKind, faultKinds } from "#model/fault.ts";

const head = `# Errors

Input that cannot be understood is never dropped. It is kept as a *fault*, with its bytes, reason and place. A fault spoils one
**record**, the whole **message** it arrived in, or the rest of its **stream**, and nothing else. You find faults on the run's
Integrity page, at \`GET /api/v1/faults\`, and in the \`faults\` table of \`tributary sql\`.

\`npm run docs\` generates this page from \`src/model/fault.ts\` and \`src/api/refusal-kinds.ts\`.

## Faults

| code | spoils | what happened | what to do |
| --- | --- | --- | --- |
`;

const answersHead = `
## Answers

A refused request is answered with \`{code, message, hint, at}\`: a stable code for programs, a sentence, what to do about it,
and the place (\`path\`, \`query\`, \`body\`, \`header\`, \`filter\` or \`sql\`, with the name or the character). A body that is
refused as a whole gets the code of its fault, with status 413 for \`body_too_large\` and \`body_ratio\`, else 400.

| code | status | meaning |
| --- | ---: | --- |
`;

export function toErrorsPage(): string {
  const rows = Object.entries<FaultKind>(faultKinds)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { blast, means, hint }]) => `| \`${code}\` | ${blast} | ${toCell(means)} | ${toCell(hint)} |\n`);
  return head + rows.join("") + answersHead + toAnswerRows().join("");
}

function toAnswerRows(): string[] {
  return Object.entries<RefusalKind>(refusalKinds)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { status, means }]) => `| \`${code}\` | ${status} | ${toCell(means)} |\n`);
}

function toCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
