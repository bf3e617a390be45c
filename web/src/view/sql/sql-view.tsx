export function SqlView() {
  return <p>SqlView</p>;
}
