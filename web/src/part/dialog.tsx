// The platform's own dialog: it traps focus, closes on Esc and needs no style injected into the page.

import { type ComponentProps, type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { Button, IconButton } from "./button.tsx";
import { Form } from "./field.tsx";
import { Problem } from "./notice.tsx";

interface ModalProps extends ComponentProps<"dialog"> {
  readonly onClose: () => void;
}

/** Over everything else, for as long as it is on the page. */
export function Modal({ className = "", children, onClose, ...names }: ModalProps) {
  const ref = useRef<HTMLDialogElement>(null);
  // Closed before it is taken off the page: only a dialog that closes gives the focus back to where it was.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click only serves the backdrop; the platform closes it on Esc.
    <dialog
      {...names}
      ref={ref}
      className={`dialog ${className}`}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      {children}
    </dialog>
  );
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
}

export function Dialog({ title, onClose, children, foot }: DialogProps) {
  const id = useId();
  return (
    <Modal aria-labelledby={id} onClose={onClose}>
      <div className="stack dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      {foot === undefined ? null : <div className="row dialog-foot">{foot}</div>}
      {/* Last, so that the dialog begins with the focus on what it asks for. */}
      <IconButton look="quiet small dialog-close" icon="cross" label="Close" onClick={onClose} />
    </Modal>
  );
}

interface ConfirmProps extends Omit<DialogProps, "foot"> {
  readonly no?: string;
  readonly yes: string;
  readonly look?: "primary" | "danger";
  /** Whether everything is given that it needs. */
  readonly ready?: boolean;
  /** What is done then: whether it is under way, and why it failed. */
  readonly change: { readonly isPending: boolean; readonly error: Error | null };
  readonly onYes: (given: FormData) => void;
}

/** Asks before something is changed, and for what that needs: `children` are the fields of a form. */
export function Confirm(props: ConfirmProps) {
  const { no = "cancel", yes, look = "primary", ready = true, change, onYes, children, ...dialog } = props;
  const form = useId();
  const foot = (
    <>
      <Button onClick={dialog.onClose}>{no}</Button>
      <Button type="submit" form={form} look={look} disabled={!ready || change.isPending}>
        {yes}
      </Button>
    </>
  );
  return (
    <Dialog {...dialog} foot={foot}>
      <Form id={form} className="stack" onSubmit={onYes}>
        {children}
      </Form>
      <Problem error={change.error} />
    </Dialog>
  );
}
