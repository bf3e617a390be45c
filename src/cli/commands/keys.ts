// tributary keys: who may use the server.

import { type Command, InvalidArgumentError, Option } from "commander";
import { Scope } from "#api/contract/admin.ts";
import { wordsOf } from "#api/contract/scalar.ts";
import { given } from "#base/given.ts";
import { askServer, type ConnectOptions, withClient } from "#cli/connect.ts";
import { type Context, paint } from "#cli/context.ts";
import { formatAgo } from "#cli/format.ts";
import { addConnectOptions, addJsonOption } from "#cli/options.ts";
import { printJson, printLine, printTable } from "#cli/print.ts";

const scopes = wordsOf(Scope);

interface CreateOptions extends ConnectOptions {
  readonly name: string;
  readonly scope?: Scope[];
  readonly workspace?: string;
}

export function addKeys(program: Command, context: Context): void {
  const keys = program
    .command("keys")
    .summary("list, create and revoke API keys")
    .description(
      "Lists the API keys. While there is none, everybody on this machine may do everything, and nobody else can.",
    )
    .addHelpText("after", "\nExample:\n  tributary keys create --name training --scope ingest\n");
  const list = keys
    .command("list", { isDefault: true })
    .summary("list the keys")
    .addHelpText("after", "\nExample:\n  tributary keys list\n");
  addJsonOption(addConnectOptions(list)).action((options: ConnectOptions) =>
    withClient(context, { ...options, mayCreate: true }, async (client) => {
      const answer = await client.call("keys", {});
      if (options.json) return printJson(context, answer);
      if (answer.keys.length === 0)
        return printLine(context, "No keys. Create one with: tributary keys create --name NAME");
      const rows = answer.keys.map((key) => [
        key.id,
        key.name,
        key.workspace,
        key.scopes.join(" "),
        formatAgo(key.created_ns),
        formatAgo(key.last_used_ns) || "never",
      ]);
      printTable(context, ["ID", "NAME", "WORKSPACE", "SCOPES", "CREATED", "LAST USED"], rows);
    }),
  );

  const create = keys
    .command("create")
    .summary("create a key")
    .requiredOption("--name <name>", "what it is for")
    .addOption(
      new Option("--scope <scope>", "what it may do; may be repeated (default: ingest and read)")
        .choices(scopes)
        .argParser(addScope),
    )
    .option("--workspace <name>", "the workspace it belongs to")
    .addHelpText("after", "\nExample:\n  tributary keys create --name team --scope read --workspace team-a\n");
  addJsonOption(addConnectOptions(create)).action((options: CreateOptions) =>
    withClient(context, { ...options, mayCreate: true }, async (client) => {
      const { name, scope = ["ingest", "read"], workspace } = options;
      const made = await client.call("createKey", { body: { name, scopes: scope, ...given({ workspace }) } });
      if (options.json) return printJson(context, made);
      printLine(context, paint(context.stdout, context.env, "bold", made.key));
      context.stderr.write("Keep it: it is shown this once.\n");
    }),
  );

  const revoke = keys
    .command("revoke")
    .summary("revoke a key")
    .argument("<id>", "its id, from the list")
    .addHelpText("after", "\nExample:\n  tributary keys revoke k_1a2b3c4d\n");
  askServer(context, revoke, async (client, options: ConnectOptions, key: string) => {
    const answer = await client.call("deleteKey", { params: { key } });
    if (options.json) return printJson(context, answer);
    printLine(context, `Revoked ${key}.`);
  });
}

function addScope(word: string, before: readonly Scope[] = []): Scope[] {
  const scope = scopes.find((one) => one === word);
  if (scope === undefined) throw new InvalidArgumentError(`Choose from ${scopes.join(", ")}.`);
  return [...before, scope];
}
