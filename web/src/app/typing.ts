// Keys of the page must not fire while a person writes.

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** A dialog or menu is open: keys belong to it. */
export function isBusy(): boolean {
  return document.querySelector("dialog[open], [data-radix-popper-content-wrapper]") !== null;
}
