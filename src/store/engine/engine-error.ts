// The engine's errors as the ClickHouse HTTP protocol gives them: a status, a code header and the text.

// The codes whose status a real server sets too; every other one is 500.
const statusOf: ReadonlyMap<number, number> = new Map([
  [36, 400],
  [62, 400],
  [47, 404],
  [60, 404],
  [81, 404],
  [115, 404],
  [159, 408],
  [202, 503],
  [497, 403],
  [516, 403],
]);

const unknownCode = 1002;
const notEnoughSpace = 243;

export function toEngineError(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  const code = Number(/^Code: (\d+)/.exec(message)?.[1] ?? codeOfSystem(error));
  const text = message.startsWith("Code: ") ? message : `Code: ${code}. DB::Exception: ${message}`;
  return { status: statusOf.get(code) ?? 500, code, text };
}

/** An insert's body goes through a file of ours before the engine reads it. */
function codeOfSystem(error: unknown): number {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" ? notEnoughSpace : unknownCode;
}
