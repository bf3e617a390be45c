export function StartView() {
  return <p>StartView</p>;
}
