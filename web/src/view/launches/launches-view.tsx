export function LaunchesView() {
  return <p>LaunchesView</p>;
}
