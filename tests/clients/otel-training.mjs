// A training instrumented with OpenTelemetry's own SDK for JavaScript. Plain JavaScript, as its users write it.
//
// Usage: node otel-training.mjs ENDPOINT RUN proto|json

import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as JsonTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

const [endpoint, run, encoding] = process.argv.slice(2);
const resource = resourceFromAttributes({ "service.name": "otel-js", "tributary.run.id": run, "dl.rank": 2 });
const urlOf = (signal) => ({ url: `${endpoint}/v1/${signal}`, compression: "gzip" });

const Exporter = encoding === "json" ? JsonTraceExporter : OTLPTraceExporter;
const spanProcessors = [new BatchSpanProcessor({ exporter: new Exporter(urlOf("traces")) })];
const tracers = new TracerProvider({ resource, spanProcessors });
const meters = new MeterProvider({
  resource,
  readers: [new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter(urlOf("metrics")) })],
});
const loggers = new LoggerProvider({
  resource,
  processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter(urlOf("logs")) })],
});

const tracer = tracers.getTracer("trainer", "1.0");
const tokens = meters.getMeter("trainer").createCounter("tokens");
const logger = loggers.getLogger("trainer");
for (let step = 1; step <= 3; step++) {
  const span = tracer.startSpan("train_step", { attributes: { global_step: step } });
  span.setAttribute("loss", 1 / step);
  span.addEvent("optimizer", { lr: 0.1 });
  tokens.add(1024);
  logger.emit({ severityNumber: 13, severityText: "WARN", body: `step ${step}`, attributes: { step } });
  if (step === 3) span.setStatus({ code: 2, message: "diverged" });
  span.end();
}
await Promise.all([tracers.shutdown(), meters.shutdown(), loggers.shutdown()]);
