"""A training instrumented with OpenTelemetry's own SDK: traces, metrics and logs, by the exporter that is asked for.

`python otel_training.py http ENDPOINT RUN` or `python otel_training.py grpc ENDPOINT RUN`.
"""

import logging
import sys

from opentelemetry import metrics, trace
from opentelemetry._logs import set_logger_provider
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

transport, endpoint, run = sys.argv[1:]
if transport == "http":
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    def options(signal):
        return {"endpoint": f"{endpoint}/v1/{signal}", "compression": Compression.Gzip}

else:
    from grpc import Compression
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    def options(_signal):
        return {"endpoint": endpoint, "insecure": True, "compression": Compression.Gzip}


resource = Resource.create({"service.name": "otel-training", "tributary.run.id": run, "dl.rank": 1, "layers": 12})
tracer_provider = TracerProvider(resource=resource)
tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(**options("traces"))))
trace.set_tracer_provider(tracer_provider)
reader = PeriodicExportingMetricReader(OTLPMetricExporter(**options("metrics")), export_interval_millis=60_000)
meter_provider = MeterProvider(resource=resource, metric_readers=[reader])
metrics.set_meter_provider(meter_provider)
logger_provider = LoggerProvider(resource=resource)
logger_provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(**options("logs"))))
set_logger_provider(logger_provider)
logger = logging.getLogger("trainer")
logger.setLevel(logging.INFO)
logger.addHandler(LoggingHandler(logger_provider=logger_provider))

tracer = trace.get_tracer("trainer", "1.0")
meter = metrics.get_meter("trainer")
tokens = meter.create_counter("tokens")
seconds = meter.create_histogram("step_seconds")

with tracer.start_as_current_span("train") as root:
    for step in range(1, 6):
        with tracer.start_as_current_span("train_step", attributes={"global_step": step}) as span:
            span.set_attribute("loss", 1.0 / step)
            span.add_event("optimizer", {"lr": 0.1})
            tokens.add(1024)
            seconds.record(0.25)
            logger.warning("step %d", step)
    root.set_status(trace.Status(trace.StatusCode.ERROR, "diverged"))

for provider in (tracer_provider, meter_provider, logger_provider):
    provider.shutdown()
