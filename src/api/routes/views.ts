// Saved views. A private one belongs to the key that saved it, and all without a key are one person; a shared one belongs
// to the workspace, so changing it needs the right to change what others see.

import type { ApiContext, Route } from "#api/context.ts";
import type { Caller } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { toAudit } from "#model/audit.ts";
import type { StateChange } from "#model/state-tables.ts";
import { readViews } from "#query/workspace.ts";

export const viewsRoute: Route<"views"> = async (context, { query, caller }) => {
  return { views: await readViews(context.sources.store, caller.workspace, ownerOf(caller), query.page ?? null) };
};

/** A name belongs to one view: saving a shared one replaces a private one of that name, and vice versa. */
export const saveViewRoute: Route<"saveView"> = async (context, { params, body, caller }) => {
  const before = await findViews(context, caller, params);
  if (body.shared || before.some(({ shared }) => shared)) refuseReader(caller);
  const version = context.head().nowNs;
  const { workspace, name: author } = caller;
  const row = { workspace, ...params, search: body.search, author, version };
  const changes: StateChange[] = [false, true].map((shared) => {
    const deleted = shared === body.shared ? 0 : 1;
    return { table: "saved_views", row: { ...row, owner: shared ? "" : ownerOf(caller), deleted } };
  });
  if (body.shared) changes.push(toAudit(workspace, author, "view_shared", params.name, params, version));
  await context.change(changes, workspace, author);
  return { ...params, ...body, by: author, at_ns: version.toString() };
};

export const deleteViewRoute: Route<"deleteView"> = async (context, { params, caller }) => {
  const [view] = await findViews(context, caller, params);
  if (view === undefined)
    throw new Refusal("view_not_found", `There is no view called ${JSON.stringify(params.name)}.`, {
      at: { part: "path", name: "name" },
    });
  if (view.shared) refuseReader(caller);
  const version = context.head().nowNs;
  const { workspace, name: author } = caller;
  const owner = view.shared ? "" : ownerOf(caller);
  const row = { workspace, owner, ...params, search: view.search, author, deleted: 1, version };
  const changes: StateChange[] = [{ table: "saved_views", row }];
  if (view.shared) changes.push(toAudit(workspace, author, "view_deleted", params.name, params, version));
  await context.change(changes, workspace, author);
  return { done: true, as_of: context.asOf() };
};

async function findViews(context: ApiContext, caller: Caller, { page, name }: { page: string; name: string }) {
  const views = await readViews(context.sources.store, caller.workspace, ownerOf(caller), page);
  return views.filter((view) => view.name === name);
}

function ownerOf({ keyId, name }: Caller): string {
  return keyId ?? name;
}

function refuseReader({ scopes }: Caller): void {
  if (scopes.has("control")) return;
  throw new Refusal("scope_missing", "Changing a shared view needs a key with the scope control.", {
    hint: "Save it for yourself, or ask for a key with that scope.",
  });
}
