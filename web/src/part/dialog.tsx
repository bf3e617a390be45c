// The platform's own dialog: it traps focus, closes on Esc and needs no style injected into the page.

import { type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./button.tsx";
import { Problem } from "./notice.tsx";

interface DialogProps {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
}

export function Dialog({ title, open, onClose, children, foot }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null) return;
    if (open && !dialog.open) dialog.showModal();
    if (!open && dialog.open) dialog.close();
  }, [open]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click only serves the backdrop; the platform closes it on Esc.
    <dialog
      ref={ref}
      className="dialog"
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      {open ? (
        <>
          <div className="stack dialog-body">
            <h2 id={id}>{title}</h2>
            {children}
          </div>
          {foot === undefined ? null : <div className="row dialog-foot">{foot}</div>}
          {/* Last, so that the dialog begins with the focus on what it asks for. */}
          <Button look="quiet small icon dialog-close" icon="cross" aria-label="Close" onClick={onClose} />
        </>
      ) : null}
    </dialog>
  );
}

/** Asks before something is changed. */
export function Confirm({
  no,
  yes,
  look,
  change,
  onYes,
  children,
  ...dialog
}: Omit<DialogProps, "foot"> & {
  readonly no: string;
  readonly yes: string;
  readonly look: "primary" | "danger";
  /** What is done then: whether it is under way, and why it failed. */
  readonly change: { readonly isPending: boolean; readonly error: Error | null };
  readonly onYes: () => void;
}) {
  const foot = (
    <>
      <Button onClick={dialog.onClose}>{no}</Button>
      <Button look={look} disabled={change.isPending} onClick={onYes}>
        {yes}
      </Button>
    </>
  );
  return (
    <Dialog {...dialog} foot={foot}>
      {children}
      <Problem error={change.error} />
    </Dialog>
  );
}
