"""A small training with the real Cirron SDK: epochs, steps, marks of every type, then an orderly shutdown."""

import time

import cirron as ci

ci.profile()
for epoch in ci.epochs(range(2)):
    for step in ci.batches(range(4)):
        with ci.scope("forward"):
            time.sleep(0.02)
        ci.mark("loss", 1.0 / (step + 1), step=step)
    ci.mark("diverged", float("nan"))
    ci.mark("note", "ünï")
time.sleep(2.5)
ci.shutdown()
