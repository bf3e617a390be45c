export function LaunchView() {
  return <p>LaunchView</p>;
}
