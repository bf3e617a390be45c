// Named views of a page: choose one, save this one for oneself or for everyone, delete one. A view is its address.

import { useState } from "react";
import type { SavedView } from "#api/contract/view.ts";
import { useApi, useChange } from "../data/use-api.ts";
import { Button, CopyButton, IconButton } from "../part/button.tsx";
import { Form, TextField } from "../part/field.tsx";
import { Icon } from "../part/icon.tsx";
import { Problem } from "../part/notice.tsx";
import { Popover } from "../part/popover.tsx";
import { formatSearch, parseSearch, type SearchRecord } from "./search.ts";

export interface SavedViewsProps {
  readonly page: SavedView["page"];
  /** The part of the address that a view is. */
  readonly search: SearchRecord;
  readonly onOpen: (search: SearchRecord) => void;
  /** The path that a link to a view leads to. */
  readonly path: string;
  /** What a view is made of, in words. */
  readonly what: string;
}

export function SavedViews({ page, search, onOpen, path, what }: SavedViewsProps) {
  const answer = useApi("views", { query: { page } });
  const views = answer.data?.views ?? [];
  const now = formatSearch(search);
  const current = views.find((view) => view.search === now);
  return (
    <Popover
      label="Views"
      trigger={
        <Button>
          <span className="clip view-name">{current?.name ?? "views"}</span> <Icon name="down" size={12} />
        </Button>
      }
    >
      {(done) => (
        <div className="stack saved-views">
          {answer.data !== undefined && views.length === 0 ? <p className="muted">No saved views yet.</p> : null}
          <Problem error={answer.error} />
          {views.map((view) => (
            <ViewRow
              key={`${view.name} ${view.shared}`}
              view={view}
              isCurrent={view === current}
              link={`${window.location.origin}${path}${view.search}`}
              onOpen={() => {
                onOpen(parseSearch(view.search));
                done();
              }}
            />
          ))}
          <SaveForm page={page} search={now} />
          <p className="muted">{what} Kept on this server; a shared one is seen by all of the workspace.</p>
        </div>
      )}
    </Popover>
  );
}

interface ViewRowProps {
  readonly view: SavedView;
  readonly isCurrent: boolean;
  readonly link: string;
  readonly onOpen: () => void;
}

function ViewRow({ view, isCurrent, link, onOpen }: ViewRowProps) {
  const save = useChange("saveView", ["views"]);
  const forget = useChange("deleteView", ["views"]);
  const params = { page: view.page, name: view.name };
  const sharing = view.shared ? `Keep ${view.name} to yourself` : `Share ${view.name} with all`;
  return (
    <>
      <div className="row">
        <button type="button" className="menu-item grow" aria-current={isCurrent} onClick={onOpen}>
          <span className="clip">{view.name}</span>
          {view.shared ? <span className="muted">shared by {view.by}</span> : null}
        </button>
        <Button
          look="quiet small"
          aria-label={sharing}
          title={sharing}
          onClick={() => save.mutate({ params, body: { search: view.search, shared: !view.shared } })}
        >
          {view.shared ? "unshare" : "share"}
        </Button>
        <CopyButton text={link} label={`copy a link to ${view.name}`} />
        <IconButton icon="cross" label={`Forget ${view.name}`} onClick={() => forget.mutate({ params })} />
      </div>
      <Problem error={save.error ?? forget.error} />
    </>
  );
}

function SaveForm({ page, search }: { readonly page: SavedView["page"]; readonly search: string }) {
  const save = useChange("saveView", ["views"]);
  const [name, setName] = useState("");
  const [shared, setShared] = useState(false);
  return (
    <Form
      className="stack"
      onSubmit={() => {
        if (name.trim() === "") return;
        save.mutate(
          { params: { page, name: name.trim() }, body: { search, shared } },
          { onSuccess: () => setName("") },
        );
      }}
    >
      <div className="row">
        <TextField look="grow" label="Name of this view" maxLength={200} value={name} onChange={setName} />
        <Button type="submit" disabled={name.trim() === "" || save.isPending}>
          save
        </Button>
      </div>
      <label className="row">
        <input type="checkbox" checked={shared} onChange={(event) => setShared(event.target.checked)} />
        for all of the workspace
      </label>
      <Problem error={save.error} />
    </Form>
  );
}
