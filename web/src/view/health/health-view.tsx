export function HealthView() {
  return <p>HealthView</p>;
}
