// Views of the runs table with names: choose one, keep the present one, forget one. A view is its address.

import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { formatSearch, parseSearch } from "../../app/search.ts";
import { CopyButton } from "../../part/copy.tsx";
import { Icon } from "../../part/icon.tsx";
import { Popover } from "../../part/popover.tsx";
import { type SavedView, useSavedViews } from "./remembered-view.ts";
import { parseRunsSearch, type RunsSearch } from "./runs-search.ts";

export function SavedViews({ search }: { readonly search: RunsSearch }) {
  const [views, setViews] = useSavedViews();
  const navigate = useNavigate({ from: "/runs" });
  const [name, setName] = useState("");
  const now = formatSearch({ ...search });
  const current = views.find((view) => view.search === now);
  const others = (view: SavedView) => views.filter((each) => each.name !== view.name);
  return (
    <Popover
      label="Views"
      trigger={
        <button type="button" className="button">
          {current?.name ?? "views"} <Icon name="down" size={12} />
        </button>
      }
    >
      <div className="stack saved-views">
        {views.length === 0 ? <p className="muted">No view is saved yet.</p> : null}
        {views.map((view) => (
          <div key={view.name} className="row">
            <button
              type="button"
              className="menu-item grow"
              aria-current={view === current}
              onClick={() => void navigate({ search: parseRunsSearch(parseSearch(view.search)) })}
            >
              {view.name}
            </button>
            <CopyButton text={`${window.location.origin}/runs${view.search}`} label={`copy a link to ${view.name}`} />
            <button
              type="button"
              className="button quiet small icon"
              aria-label={`Forget ${view.name}`}
              onClick={() => setViews(others(view))}
            >
              <Icon name="cross" size={12} />
            </button>
          </div>
        ))}
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            const saved = { name: name.trim(), search: now };
            if (saved.name === "") return;
            setViews([...others(saved), saved]);
            setName("");
          }}
        >
          <input
            className="field"
            aria-label="Name of this view"
            placeholder="name of this view"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <button type="submit" className="button" disabled={name.trim() === ""}>
            save
          </button>
        </form>
        <p className="muted">Filter, order, columns and group; kept in this browser. The link shows it to others.</p>
      </div>
    </Popover>
  );
}
