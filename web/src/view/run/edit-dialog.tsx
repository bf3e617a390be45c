// Names, tags and notes people give; what the client sent stays beside them.

import { useState } from "react";
import type { Run } from "#api/contract/run.ts";
import { useChange } from "../../data/use-api.ts";
import { Button } from "../../part/button.tsx";
import { Dialog } from "../../part/dialog.tsx";
import { Form, TextField } from "../../part/field.tsx";
import { Problem } from "../../part/notice.tsx";

interface EditDialogProps {
  readonly run: Run;
  readonly open: boolean;
  readonly onClose: () => void;
}

export function EditDialog({ run, open, onClose }: EditDialogProps) {
  return (
    <Dialog title="Edit the run" open={open} onClose={onClose}>
      <EditForm run={run} onClose={onClose} />
    </Dialog>
  );
}

function EditForm({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const change = useChange("patchRun", ["run", "runs"]);
  const [name, setName] = useState(run.name);
  const [tags, setTags] = useState(run.tags.join(", "));
  const [notes, setNotes] = useState(run.notes);
  const save = () =>
    change.mutate(
      {
        params: { id: run.id },
        body: {
          name: name.trim() === "" ? null : name.trim(),
          tags: tags
            .split(",")
            .map((tag) => tag.trim())
            .filter((tag) => tag !== ""),
          notes,
        },
      },
      { onSuccess: onClose },
    );
  return (
    <Form className="stack" onSubmit={save}>
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
      <Problem error={change.error} />
      <div className="row">
        <span className="grow" />
        <Button type="submit" look="primary" disabled={change.isPending}>
          save
        </Button>
      </div>
    </Form>
  );
}
