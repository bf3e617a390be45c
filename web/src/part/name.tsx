// A name of any length in a narrow place. What tells names apart mostly stands at their end, so the middle is left out:
// the start gives way, the end stays.

const endLength = 12;

export function Name({ children: text }: { readonly children: string }) {
  if (text.length <= endLength + 4) return <span className="clip">{text}</span>;
  return (
    <span className="name" title={text}>
      <span className="name-start">{text.slice(0, -endLength)}</span>
      <span className="name-end">{text.slice(-endLength)}</span>
    </span>
  );
}
