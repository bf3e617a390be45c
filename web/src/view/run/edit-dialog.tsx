// Names, tags and notes people give; what the client sent stays beside them.

import { useState } from "react";
import type { Run } from "#api/contract/run.ts";
import { useChange } from "../../data/use-api.ts";
import { Confirm } from "../../part/dialog.tsx";
import { TextField } from "../../part/field.tsx";

export function EditDialog({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const change = useChange("patchRun", ["run", "runs"]);
  const [name, setName] = useState(run.name);
  const [tags, setTags] = useState(run.tags.join(", "));
  const [notes, setNotes] = useState(run.notes);
  const save = () => {
    const words = tags.split(",").map((tag) => tag.trim());
    const body = { name: name.trim() || null, tags: words.filter((tag) => tag !== ""), notes };
    change.mutate({ params: { id: run.id }, body }, { onSuccess: onClose });
  };
  return (
    <Confirm title="Edit the run" yes="save" change={change} onYes={save} onClose={onClose}>
      <label className="stack" style={{ gap: 4 }}>
        name
        <TextField value={name} onChange={setName} />
        {run.name_sent === "" || run.name_sent === name ? null : (
          <span className="muted">sent as “{run.name_sent}”</span>
        )}
      </label>
      <label className="stack" style={{ gap: 4 }}>
        tags, with commas between
        <TextField value={tags} onChange={setTags} />
      </label>
      <label className="stack" style={{ gap: 4 }}>
        notes
        <textarea className="field" rows={5} value={notes} onChange={(event) => setNotes(event.target.value)} />
      </label>
    </Confirm>
  );
}
