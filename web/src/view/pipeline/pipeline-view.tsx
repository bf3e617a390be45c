export function PipelineView() {
  return <p>PipelineView</p>;
}
