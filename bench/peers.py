"""One series of points through the own client of another tracker, and the same through ours.

Usage: peers.py NAME POINTS FOLDER [PORT URL]

A client is set up before the clock starts. Prints one JSON line: seconds until every point can be read back, bytes on the disk, peak memory of the client with its
children, and seconds to read the series again. Values are those of a loss curve; steps count from 0.
"""

import json
import math
import os
import resource
import socket
import struct
import sys
import time
import urllib.request

EVERY = 1000


def value(step):
    return 4 / math.sqrt(1 + step / 50) + math.sin(step * 12.9898) / 100


def with_sqlite(points, folder):
    import sqlite3

    db = sqlite3.connect(os.path.join(folder, "points.db"))
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE points (run TEXT, key TEXT, step INTEGER, ts INTEGER, value REAL)")
    yield
    for first in range(0, points, EVERY):
        last = min(points, first + EVERY)
        rows = [("run", "loss", step, time.time_ns(), value(step)) for step in range(first, last)]
        with db:
            db.executemany("INSERT INTO points VALUES (?, ?, ?, ?, ?)", rows)
    return lambda: len(db.execute("SELECT step, value FROM points WHERE run = 'run' AND key = 'loss'").fetchall())


def with_duckdb(points, folder):
    import duckdb
    import pandas

    db = duckdb.connect(os.path.join(folder, "points.duckdb"))
    db.execute("CREATE TABLE points (run VARCHAR, key VARCHAR, step BIGINT, ts BIGINT, value DOUBLE)")
    yield
    for first in range(0, points, EVERY):
        steps = range(first, min(points, first + EVERY))
        rows = [("run", "loss", step, time.time_ns(), value(step)) for step in steps]
        db.append("points", pandas.DataFrame(rows, columns=["run", "key", "step", "ts", "value"]))
    return lambda: len(db.execute("SELECT step, value FROM points WHERE run = 'run' AND key = 'loss'").fetchall())


def with_mlflow(points, folder):
    from mlflow.entities import Metric
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri="sqlite:///" + os.path.join(folder, "mlflow.db"))
    experiment = client.create_experiment("bench")
    run = client.create_run(experiment).info.run_id
    yield
    for first in range(0, points, EVERY):
        steps = range(first, min(points, first + EVERY))
        client.log_batch(run, metrics=[Metric("loss", value(step), time.time_ns() // 1000000, step) for step in steps])
    return lambda: len(client.get_metric_history(run, "loss"))


def with_trackio(points, folder):
    os.environ["TRACKIO_DIR"] = folder
    import trackio
    from trackio.sqlite_storage import SQLiteStorage

    trackio.init(project="bench", name="run", embed=False)
    yield
    for step in range(points):
        trackio.log({"loss": value(step)}, step=step)
    trackio.finish()
    return lambda: len(SQLiteStorage.get_logs("bench", "run", max_points=None))


def with_aim(points, folder):
    from aim import Run
    from aim.storage.context import Context

    run = Run(repo=folder, system_tracking_interval=None, log_system_params=False)
    yield
    for step in range(points):
        run.track(value(step), name="loss", step=step)
    return lambda: len(run.get_metric("loss", Context({})).values.sparse_list()[1])


def with_wandb(points, folder):
    os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true", WANDB_DIR=folder)
    import glob

    import wandb

    run = wandb.init(project="bench", settings=wandb.Settings(x_disable_stats=True))
    yield
    for step in range(points):
        run.log({"loss": value(step)}, step=step)
    run.finish()

    def read():
        from wandb.proto import wandb_internal_pb2

        found = 0
        for data in wandb_records(glob.glob(os.path.join(folder, "wandb", "offline-run-*", "*.wandb"))[0]):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            found += record.WhichOneof("record_type") == "history"
        return found

    return read


def wandb_records(path):
    """Its client reads no run that was not uploaded. The file is a log of 32 KiB blocks, as LevelDB writes it."""
    with open(path, "rb") as file:
        data = file.read()
    at, parts, block = 7, [], 32768
    while at + 7 <= len(data):
        if block - at % block < 7:
            at += block - at % block
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        parts.append(data[at + 7 : at + 7 + length])
        at += 7 + length
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []


def with_tensorboardx(points, folder):
    from tensorboardX import SummaryWriter

    writer = SummaryWriter(folder)
    yield
    for step in range(points):
        writer.add_scalar("loss", value(step), step)
    writer.close()

    def read():
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        events = EventAccumulator(folder, size_guidance={"scalars": 0})
        events.Reload()
        return len(events.Scalars("loss"))

    return read


def with_tributary(points, _folder, port, url):
    """Every metric alone in a frame of its own, from a plain socket."""
    link = socket.create_connection(("127.0.0.1", int(port)))
    send = link.sendall
    encode = json.JSONEncoder(separators=(",", ":")).encode

    def event(kind, seq, payload):
        meta = {"seq": seq, "ts": time.time_ns() // 1000, "wid": "w"}
        text = encode({"v": 1, "t": kind, "m": meta, "p": payload}).encode()
        send(struct.pack(">I", len(text)) + text)

    event("run_start", 1, {"run_id": "peer"})
    yield
    for step in range(points):
        event("metric", step + 2, {"run_id": "peer", "key": "loss", "value": value(step), "step": step})
    link.shutdown(socket.SHUT_WR)
    while link.recv(4096):
        pass
    urllib.request.urlopen(url + "/readyz?drained=1").read()
    query = json.dumps({"query": "SELECT step, value FROM metrics_of(run = 'peer')", "format": "csv"}).encode()
    headers = {"content-type": "application/json"}

    def read():
        request = urllib.request.Request(url + "/api/v1/sql", data=query, headers=headers)
        return urllib.request.urlopen(request).read().count(b"\n") - 1

    return read


def size_of(folder):
    return sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(folder) for name in names)


def main():
    name, points, folder, *where = sys.argv[1:]
    points = int(points)
    work = globals()["with_" + name](points, folder, *where)
    next(work)
    begin = time.perf_counter()
    try:
        next(work)
    except StopIteration as done:
        read = done.value
    found = read()
    readable = time.perf_counter() - begin
    again = time.perf_counter()
    read()
    reading = time.perf_counter() - again
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    result = {"found": found, "readable_s": readable, "read_s": reading, "bytes": size_of(folder), "peak_kib": peak}
    print("RESULT " + json.dumps(result), flush=True)
    # Some of them leave threads or servers behind that would hold the process.
    os._exit(0)


main()
