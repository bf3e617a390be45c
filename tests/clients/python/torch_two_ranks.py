"""Two ranks that train together; in the middle the second one is killed, and the first waits for it in a collective."""

import os
import signal
import sys
import time

import torch
import torch.distributed as dist


def main() -> None:
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = torch.nn.Linear(8, 1)
    for step in range(10):
        loss = model(torch.ones(4, 8)).pow(2).mean()
        loss.backward()
        if rank == 1 and step == 5:
            print(f"rank {rank} is killed at step {step}", flush=True)
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGKILL)
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        print(f"rank {rank} step {step} loss {loss.item():.4f}", flush=True)
    sys.exit(0)


main()
