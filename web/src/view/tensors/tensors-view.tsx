export function TensorsView() {
  return <p>TensorsView</p>;
}
