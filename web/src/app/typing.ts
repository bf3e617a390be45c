// Keys of the page must not fire while a person writes.

export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !/^(checkbox|radio|range|button|submit)$/.test(target.type);
  return target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));
}

/** A dialog or menu is open: keys belong to it. */
export function isBusy(): boolean {
  return document.querySelector("dialog[open], [data-radix-popper-content-wrapper]") !== null;
}
