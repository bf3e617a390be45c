"""Pipelines that succeed, fail and compute NaN, traced by the real driver; then the verdicts of the real aggregator."""

import json
import sys
from dataclasses import asdict

from semantiva import Payload, Pipeline
from semantiva.context_processors import ContextType
from semantiva.examples import test_utils as parts
from semantiva.trace.aggregation import TraceAggregator
from semantiva.trace.drivers.jsonl import JsonlTraceDriver

path = sys.argv[1]
driver = JsonlTraceDriver(path, detail="all")
for factor in (2.0, float("nan")):
    nodes = [{"processor": parts.FloatMultiplyOperation, "parameters": {"factor": factor}}]
    Pipeline(nodes, trace=driver).process(Payload(parts.FloatDataType(3.0), ContextType()))
try:
    # The factor is neither in the node nor in the context.
    failing = [{"processor": parts.FloatMultiplyOperation}]
    Pipeline(failing, trace=driver).process(Payload(parts.FloatDataType(3.0), ContextType()))
except Exception:  # noqa: BLE001 - the failure is what is recorded
    pass
driver.close()

aggregator = TraceAggregator()
with open(path, encoding="utf-8") as lines:
    aggregator.ingest_many(json.loads(line) for line in lines)
runs, _ = aggregator.finalize_all()
print(json.dumps([asdict(run) for run in runs]))
