// tributary doctor: checks everything that can be wrong with a setup, and says what to do.

import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import type { Command } from "commander";
import type { AnswerOf } from "#api/contract/routes.ts";
import { isHalfRestored } from "#archive/unfinished-restore.ts";
import { toOldNodeSentence } from "#base/old-node.ts";
import { checkServices, type Finding } from "#cli/check-services.ts";
import { type Client, createClient } from "#cli/client.ts";
import { answers } from "#cli/connect.ts";
import { type Context, paint } from "#cli/context.ts";
import { Exit, exitCodes } from "#cli/exit.ts";
import { formatBytes } from "#cli/format.ts";
import { addConnectOptions, addJsonOption, type SharedOptions, toConfig, toOwnUrl } from "#cli/options.ts";
import { keyFor } from "#cli/own-key.ts";
import { findPortOwner } from "#cli/port-owner.ts";
import { printJson, printLine } from "#cli/print.ts";
import type { Config } from "#config/settings.ts";
import { listAside } from "#intake/set-aside.ts";
import { listBrokenParts, sayBrokenParts } from "#store/broken-parts.ts";
import { type Confinement, findConfinement } from "#store/engine/confinement.ts";

export function addDoctor(program: Command, context: Context): void {
  const command = program
    .command("doctor")
    .summary("check this setup")
    .description(
      "Checks Node, the settings, the data folder, the ports, the engine or the store, the bus, the bucket and the server. " +
        "Exits 1 when something is wrong.",
    )
    .addHelpText("after", "\nExample:\n  tributary doctor\n");
  addJsonOption(addConnectOptions(command)).action(async (options: SharedOptions) => {
    const config = toConfig(context, options);
    const running = await answers(config.server);
    const findings = [
      checkNode(),
      { what: "Settings", ok: true, detail: "no mistakes", hint: "" },
      await checkFolder(config.dataDir),
      await checkSpace(config),
      checkAside(config.dataDir),
      ...(config.storeUrl === "" ? [checkTables(config.dataDir), await checkEngine(), await checkConfinement()] : []),
      ...(await checkServices(config)),
      ...(running
        ? await checkServer(createClient(config.server, keyFor(config, config.server)))
        : isElsewhere(config, options)
          ? [sayAway(config)]
          : await checkPorts(config)),
    ];
    if (options.json) printJson(context, findings);
    else for (const finding of findings) printFinding(context, finding);
    const wrong = findings.filter(({ ok }) => !ok).map(({ what }) => what);
    if (wrong.length > 0) throw new Exit(exitCodes.negative, `Something is wrong: ${wrong.join(", ")}.`);
  });
}

function printFinding(context: Context, { what, ok, detail, hint }: Finding): void {
  const mark = ok ? paint(context.stdout, context.env, "green", "✓") : paint(context.stdout, context.env, "red", "✗");
  printLine(context, `${mark} ${what}: ${detail}`);
  if (!ok && hint !== "") printLine(context, `  ${hint}`);
}

function checkNode(): Finding {
  const hint = toOldNodeSentence(process.versions.node);
  return { what: "Node", ok: hint === "", detail: process.versions.node, hint };
}

async function checkFolder(path: string): Promise<Finding> {
  const what = "Data folder";
  const place = await findNearest(path);
  try {
    if (!(await stat(place)).isDirectory()) throw Object.assign(new Error(), { code: "ENOTDIR" });
    await access(place, constants.W_OK);
    if (isHalfRestored(path)) {
      const hint = "Remove what is in it, and restore it again.";
      return { what, ok: false, detail: `${path} has half of a backup: restoring it was cut off`, hint };
    }
    return { what, ok: true, detail: place === path ? path : `${path} (will be made)`, hint: "" };
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    return { what, ok: false, detail: `${path} cannot be written (${reason})`, hint: "Choose another with --data." };
  }
}

/** The path itself, or the nearest folder above it that exists. */
async function findNearest(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found || dirname(path) === path ? path : findNearest(dirname(path));
}

async function checkSpace({ dataDir, journalBudgetBytes }: Config): Promise<Finding> {
  const what = "Disk space";
  const disk = await statfs(await findNearest(dataDir));
  const free = disk.bavail * disk.bsize;
  const ok = free > Math.min(journalBudgetBytes, 1024 ** 3);
  const hint = "The journal may need up to `journal.budget` while the store lags.";
  return { what, ok, detail: `${formatBytes(free)} free`, hint };
}

async function checkEngine(): Promise<Finding> {
  try {
    await import("chdb");
    return { what: "Embedded engine", ok: true, detail: "loads", hint: "" };
  } catch (error) {
    const hint = "There is no chDB for this platform; use a ClickHouse server with store.url.";
    return { what: "Embedded engine", ok: false, detail: String(error), hint };
  }
}

const confinements: Readonly<Record<Confinement, string>> = {
  "files and network": "no files but its own, no network, no privileges",
  files: "no files but its own, no privileges; this system does not take the network from it",
  network: "no network, no privileges; Landlock, for files, needs setpriv of util-linux 2.40 and a kernel that has it",
  privileges: "no privileges; this system does not take the network from it",
  none: "none by the system: unshare and setpriv of util-linux are missing or may do nothing",
};

/** What the system offers besides the fences that are always there. Less is not a mistake. */
async function checkConfinement(): Promise<Finding> {
  return { what: "Engine's confinement", ok: true, detail: confinements[await findConfinement()], hint: "" };
}

/** Whether a server was named. If none was, none need be running, and the ports of this machine must be free for one. */
function isElsewhere(config: Config, options: SharedOptions): boolean {
  return options.server !== undefined || config.server !== toOwnUrl(config);
}

function sayAway({ server }: Config): Finding {
  const hint = "Check the address and whether a server runs there. tributary up starts one.";
  return { what: "Server", ok: false, detail: `no Tributary answers at ${server}`, hint };
}

async function checkServer(client: Client): Promise<Finding[]> {
  const response = await client.open("readyz", {});
  const { ready, problems, degraded } = (await response.json()) as AnswerOf<"readyz">;
  const hint = "Its log says more.";
  const detail = ready ? `${client.url} is ready` : problems.join(" ");
  return [
    { what: "Server", ok: ready, detail, hint },
    ...degraded.map((sentence) => ({ what: "Server", ok: false, detail: sentence, hint })),
  ];
}

/** Accepted records that could not be applied. */
function checkAside(dataDir: string): Finding {
  const count = listAside(dataDir).length;
  const detail = count === 0 ? "nothing" : `${count} accepted records could not be applied`;
  const hint = "tributary aside says why, and tries them again after an upgrade.";
  return { what: "Set aside", ok: count === 0, detail, hint };
}

/** Parts that the embedded engine could not read. */
function checkTables(dataDir: string): Finding {
  const [detail = "no part is damaged"] = sayBrokenParts(listBrokenParts(dataDir));
  return { what: "Tables", ok: detail === "no part is damaged", detail, hint: "" };
}

async function checkPorts({ httpAddress, xtrackAddress }: Config): Promise<Finding[]> {
  const http = await checkPort("HTTP port", httpAddress, "--http");
  return xtrackAddress === "off" ? [http] : [http, await checkPort("XTrack port", xtrackAddress, "--xtrack")];
}

function checkPort(what: string, { host, port }: { host: string; port: number }, flag: string): Promise<Finding> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      const owner = findPortOwner(port);
      const who = owner === undefined ? "Something else" : `Process ${owner.pid} (${owner.command})`;
      const detail = `${host}:${port} cannot be used (${error.code})`;
      resolve({ what, ok: false, detail, hint: `${who} listens there; stop it, or choose another with ${flag}.` });
    });
    server.listen(port, host, () => {
      server.close(() => resolve({ what, ok: true, detail: `${host}:${port} is free`, hint: "" }));
    });
  });
}
