// How a command ends when it does not succeed.

export const exitCodes = {
  /** The answer is no: a check found faults, a run failed, a command was refused. */
  negative: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** The server, the store or the network is not there. */
  outage: 3,
  /** Stopped by Ctrl-C. */
  interrupted: 130,
} as const;

/** Ends the command with a message for people and a code for scripts. */
export class Exit extends Error {
  override readonly name = "Exit";
  readonly code: number;
  readonly hint: string;
  constructor(code: number, message: string, hint = "") {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
