"""Two ranks that train together; in the middle the second one goes silent, and the first waits for it in a collective.

PyTorch writes flight records by itself for NCCL only. With gloo the job asks for them: when a collective fails, and when
the launcher ends the rank."""

import signal
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace_file


def leave_record() -> None:
    _dump_fr_trace_file(dist.get_rank())


def end_by_signal(*_: object) -> None:
    leave_record()
    sys.exit(1)


def main() -> None:
    dist.init_process_group("gloo", timeout=timedelta(seconds=5))
    rank = dist.get_rank()
    signal.signal(signal.SIGTERM, end_by_signal)
    model = torch.nn.Linear(8, 1)
    for step in range(10):
        loss = model(torch.ones(4, 8)).pow(2).mean()
        loss.backward()
        if rank == 1 and step == 5:
            print(f"rank {rank} waits for its data at step {step}", flush=True)
            time.sleep(300)
        try:
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
        except RuntimeError:
            leave_record()
            raise
        print(f"rank {rank} step {step} loss {loss.item():.4f}", flush=True)


main()
