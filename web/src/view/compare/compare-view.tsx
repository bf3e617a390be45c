export function CompareView() {
  return <p>CompareView</p>;
}
