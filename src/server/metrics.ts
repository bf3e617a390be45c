// The metrics for Prometheus. Other rooms do not know it: their counters are connected to these names here.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type Metrics = ReturnType<typeof createMetrics>;

let ofProcess: Registry | undefined;

/** Metrics of the process rather than of one server: their timers and observers live as long as the process. */
function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

export function createMetrics() {
  const [registry, shared] = [new Registry(), processMetrics()];
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `tributary_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `tributary_${name}`, help, labelNames, registers });
  const seconds = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name: `tributary_${name}`, help, labelNames, registers, buckets: secondsBuckets });
  return {
    registry,
    /** With those of the process. */
    all: () => Registry.merge([shared, registry]),
    accepted: counter("records_accepted_total", "Records stored for the first time.", ["protocol"]),
    duplicates: counter("records_duplicate_total", "Records that were already known.", ["protocol"]),
    faults: counter("faults_total", "Records that could not be understood, kept as faults.", ["protocol", "code"]),
    refused: counter("requests_refused_total", "Requests and connections that were refused.", ["reason"]),
    gaps: gauge("sequence_missing", "Sequence numbers that were never received.", ["protocol"]),
    bytesIn: counter("received_bytes_total", "Bytes taken in, after decompression.", ["protocol"]),
    journalBytes: gauge("journal_bytes", "Bytes of the journal on disk."),
    journalLagSeconds: gauge("journal_lag_seconds", "Age of the oldest accepted record that is not stored yet."),
    waitingBytes: gauge("waiting_bytes", "Accepted bytes that wait in memory for the store."),
    connections: gauge("connections", "Open connections.", ["transport"]),
    insertSeconds: seconds("insert_seconds", "How long the store took to insert a block.", ["table"]),
    querySeconds: seconds("query_seconds", "How long the store took to answer a query.", ["kind"]),
    httpSeconds: seconds("http_request_seconds", "How long HTTP requests took.", ["route", "status"]),
    busConnected: gauge("bus_connected", "1 while the bus between collectors is connected."),
    collectors: gauge("collectors", "Collectors that are heard on the bus, this one included."),
  };
}

/** A gauge that is read when Prometheus asks. */
export function addReadGauge({ registry }: Metrics, name: string, help: string, read: () => number): void {
  new Gauge({
    name: `tributary_${name}`,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

export function addReadCounter({ registry }: Metrics, name: string, help: string, read: () => number): void {
  new Counter({
    name: `tributary_${name}`,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
