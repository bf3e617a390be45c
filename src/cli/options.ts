// Options that several commands share, and how they become the one config.

import { type Command, InvalidArgumentError, Option } from "commander";
import { given } from "#base/given.ts";
import { ConfigError, readConfig } from "#config/read-config.ts";
import { type Config, type SettingName, settings } from "#config/settings.ts";
import type { Context } from "./context.ts";
import { Exit, exitCodes } from "./exit.ts";

export interface SharedOptions {
  readonly config?: string;
  readonly data?: string;
  readonly server?: string;
  readonly key?: string;
  readonly http?: string;
  readonly xtrack?: string;
  readonly unix?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

/** For commands that talk to a server. */
export function addConnectOptions(command: Command): Command {
  return command
    .option("--server <url>", "the server to talk to (default: the one of tributary.toml, or the data folder itself)")
    .option("--key <key>", "the API key to send")
    .option("--data <dir>", "the data folder to open when no server answers")
    .option("--config <file>", "the settings file instead of tributary.toml");
}

/** For commands that are a server. */
export function addServeOptions(command: Command, folder = ".tributary"): Command {
  return command
    .option("--data <dir>", `where everything is kept (default: ${folder})`)
    .option("--http <host:port>", "where HTTP listens (default: 127.0.0.1:7077)")
    .option("--xtrack <host:port|off>", "where XTrack listens (default: 127.0.0.1:9999)")
    .option("--unix <path>", "a Unix socket for XTrack")
    .option("--config <file>", "the settings file instead of tributary.toml")
    .addOption(new Option("--quiet", "log errors only").conflicts("verbose"))
    .option("--verbose", "log every request");
}

export function addJsonOption(command: Command): Command {
  return command.option("--json", "print JSON for programs");
}

const flagNames: Readonly<Record<string, SettingName>> = {
  data: "dataDir",
  server: "server",
  key: "key",
  http: "httpAddress",
  xtrack: "xtrackAddress",
  unix: "xtrackUnixPath",
};

export function toConfig(
  context: Context,
  options: SharedOptions,
  fixed: Partial<Record<SettingName, string>> = {},
): Config {
  const flags: Partial<Record<SettingName, string>> = {};
  for (const [option, name] of Object.entries(flagNames)) {
    const value = options[option as keyof SharedOptions];
    if (typeof value === "string") flags[name] = value;
  }
  if (options.quiet) flags.logLevel = "error";
  if (options.verbose) flags.logLevel = "debug";
  try {
    const file = given({ file: options.config });
    const config = readConfig({ flags: { ...flags, ...fixed }, env: context.env, ...file });
    return config.server === settings.server.default ? Object.freeze({ ...config, server: toOwnUrl(config) }) : config;
  } catch (error) {
    if (error instanceof ConfigError) throw new Exit(exitCodes.usage, error.message);
    throw error;
  }
}

/** Where the server of these settings answers on this machine. */
export function toOwnUrl({ httpAddress: { host, port }, tlsCert }: Config): string {
  const isAny = host === "0.0.0.0" || host === "::";
  const name = isAny ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return port === 0 ? settings.server.default : `${tlsCert === "" ? "http" : "https"}://${name}:${port}`;
}

/** A number given on the command line. For anything else the parser names the option. */
export function toCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** A number that the server takes, within its bounds. */
export function countBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : -1;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** The id of a run as a path can carry it: no empty segment, and none that leads to another folder. */
export function toRunId(text: string): string {
  if (text !== "" && !/^\.{1,2}$/.test(text)) return text;
  throw new Exit(
    exitCodes.usage,
    `${JSON.stringify(text)} cannot be the id of a run.`,
    "Choose another with --run-id.",
  );
}

/** Collects an option that may be given several times. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
