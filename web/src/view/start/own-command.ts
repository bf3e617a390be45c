// The command line for this server, in places that have nothing to show yet.

import { useApi } from "../../data/use-api.ts";
import { toOwnCommand } from "./recipes.ts";

export function useOwnCommand(words: string): string {
  const session = useApi("session", {}, { staleMs: 60_000 });
  return toOwnCommand(session.data, window.location.origin, words);
}
