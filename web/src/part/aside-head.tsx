import { Button } from "./button.tsx";

/** What the part beside a view is about, and a button to close it. */
export function AsideHead({
  title,
  hint,
  onClose,
}: {
  readonly title: string;
  readonly hint?: string;
  readonly onClose: () => void;
}) {
  return (
    <header className="row">
      <h2 className="clip grow" title={hint}>
        {title}
      </h2>
      <Button look="quiet small icon" icon="cross" iconPx={12} aria-label="Close" onClick={onClose} />
    </header>
  );
}
