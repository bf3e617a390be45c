import { Dialog } from "../part/dialog.tsx";

const keys: readonly (readonly [string, string])[] = [
  ["⌘K / Ctrl K", "go to a run, metric, view or action"],
  ["/", "search or filter in this view"],
  ["Esc", "free the pinned moment; then clear the shared window"],
  ["click, Enter", "charts: pin the moment; ← → read point by point"],
  ["drag", "charts: the window of all panels; double-click clears it"],
  ["Shift drag, Ctrl wheel", "charts: move and zoom the window"],
  ["j k, ↓ ↑", "runs table: next, previous run; Enter opens it"],
  ["x", "runs table: tick the run"],
  ["Alt ← →", "runs table: move the column of the focused heading"],
  ["W S", "timeline: zoom in, out"],
  ["A D", "timeline: move left, right"],
  ["F", "timeline: fit the selected span, or all"],
  ["M", "timeline: mark the selected span as the window"],
  ["n N", "timeline: next, previous match"],
  ["Shift drag", "timeline: add up an area"],
  ["Ctrl wheel", "timeline: zoom where the wheel scrolls lanes"],
  ["?", "this list"],
];

export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="facts">
        {keys.map(([key, means]) => (
          <div key={key} style={{ display: "contents" }}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{means}</dd>
          </div>
        ))}
      </dl>
      <p className="muted">Brush any chart, timeline or list to set the window of all of them.</p>
    </Dialog>
  );
}
