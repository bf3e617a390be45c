// What a run ran on, in a few words.

/** The GPUs with their count, else the host, else ''. Clients send `gpu_info` as JSON; what cannot be read is shown. */
export function describeEnv(env: Readonly<Record<string, string>>): string {
  const gpus = env["gpu_info"] ?? env["gpu_name"] ?? env["gpu"] ?? "";
  const names = gpuNames(gpus);
  if (names.length > 0) {
    const counts = new Map<string, number>();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return [...counts].map(([name, count]) => `${name.replace(/^NVIDIA /, "")} ×${count}`).join(", ");
  }
  return env["hostname"] ?? env["host"] ?? env["host.name"] ?? "";
}

function gpuNames(text: string): string[] {
  if (text === "") return [];
  try {
    const value: unknown = JSON.parse(text);
    const list = Array.isArray(value) ? value : [value];
    return list.flatMap((each: unknown) => {
      const name = typeof each === "object" && each !== null && "name" in each ? each.name : each;
      return typeof name === "string" && name !== "" ? [name] : [];
    });
  } catch {
    return [text];
  }
}
