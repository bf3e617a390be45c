import { Button } from "./button.tsx";

interface AsideHeadProps {
  readonly title: string;
  readonly hint?: string;
  readonly onClose: () => void;
}

/** What the part beside a view is about, and a button to close it. */
export function AsideHead({ title, hint, onClose }: AsideHeadProps) {
  return (
    <header className="row">
      <h2 className="clip grow" title={hint}>
        {title}
      </h2>
      <Button look="quiet small icon" icon="cross" iconPx={12} aria-label="Close" onClick={onClose} />
    </header>
  );
}
