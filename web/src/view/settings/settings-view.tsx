export function SettingsView() {
  return <p>SettingsView</p>;
}
