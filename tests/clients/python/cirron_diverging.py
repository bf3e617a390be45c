"""A training that diverges, with the real Cirron SDK: a loss that becomes Infinity and NaN, and weights that follow.

Weights are captured as the SDK's own Keras callback does it at the end of an epoch, from anything that has `weights`,
so that neither PyTorch nor Keras is needed. `python cirron_diverging.py` in an empty folder leaves a spool there.
"""

import math
import time
from types import SimpleNamespace

import cirron as ci
import numpy as np
from cirron.core.snapshot_buffer import get_default_snapshot_buffer
from cirron.snapshots.stats import capture


class Weight:
    def __init__(self, name, values):
        self.name = name
        self.values = np.asarray(values, dtype=np.float32)
        self.dtype = self.values.dtype
        self.shape = self.values.shape

    def numpy(self):
        return self.values


kernel = Weight("dense/kernel", np.linspace(-1, 1, 64))
bias = Weight("dense/bias", [0.25, 0.5, 0.75, 1.0])
model = SimpleNamespace(weights=[kernel, bias])
losses = [1.0254, math.inf, math.nan, -math.inf]

ci.profile(snapshots="stats")
for epoch in range(2):
    with ci.scope("epoch", index=epoch) as span:
        if epoch == 1:
            kernel.values[[3, 7]] = [math.nan, math.inf]
            bias.values[:] = math.nan
        for step in range(2):
            ci.mark("loss", losses[2 * epoch + step], step=2 * epoch + step)
        get_default_snapshot_buffer().extend(capture(SimpleNamespace(snapshots="stats"), model, span.id))
time.sleep(1.5)
ci.shutdown()
