// The commands a job can be sent, with the words to ask about each.

import type { CommandType } from "#api/contract/command.ts";
import type { IconName } from "../../part/icon.tsx";

export interface CommandChoice {
  readonly type: CommandType;
  readonly word: string;
  readonly icon: IconName;
  readonly asks: string;
  /** The payload to start from; null when the command takes none. */
  readonly payload: string | null;
}

export const commandChoices: readonly CommandChoice[] = [
  { type: "pause", word: "Pause", icon: "pause", asks: "Training waits until you resume it.", payload: null },
  { type: "resume", word: "Resume", icon: "play", asks: "Training goes on.", payload: null },
  {
    type: "checkpoint_now",
    word: "Checkpoint now",
    icon: "download",
    asks: "The job writes a checkpoint at the next opportunity.",
    payload: null,
  },
  {
    type: "adjust_lr",
    word: "Learning rate",
    icon: "compare",
    asks: "The job takes this learning rate from its next step.",
    payload: "",
  },
  { type: "update_params", word: "Params", icon: "settings", asks: "The job takes these values.", payload: "{}" },
  {
    type: "custom",
    word: "Custom",
    icon: "more",
    asks: "The job's own command; what it does is up to the job.",
    payload: "{}",
  },
  {
    type: "stop",
    word: "Stop",
    icon: "stop",
    asks: "The job ends cleanly. It cannot be resumed from here.",
    payload: null,
  },
];
