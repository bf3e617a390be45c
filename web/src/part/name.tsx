// A name of any length in a narrow place. Names mostly differ at their end, so a long one is cut at its start, and where
// even the end has no room, that is cut from its own start.

import "./name.css";

const endLength = 12;
/** A name this short is not worth cutting in two. */
const wholeLength = 16;

export function Name({ children: text }: { readonly children: string }) {
  const cut = text.length <= wholeLength ? 0 : text.length - endLength;
  return (
    <span className="name" title={text}>
      {cut === 0 ? null : <span className="name-start">{text.slice(0, cut)}</span>}
      <span className="name-end">
        <bdi>{text.slice(cut)}</bdi>
      </span>
    </span>
  );
}

/** A metric with the phase that it belongs to. */
export function MetricName({ metric }: { readonly metric: { readonly key: string; readonly phase: string } }) {
  return (
    <>
      <Name>{metric.key}</Name> <span className="muted">{metric.phase}</span>
    </>
  );
}
