"""Start llama.cpp's server with one thread: `llama_cpp_server.py GGUF PORT SLOTS TOKENS`.

Runs in an environment with `xllamacpp`, llama.cpp as a wheel: `pip install xllamacpp`.
"""

from __future__ import annotations

import signal
import sys

import xllamacpp


def main() -> None:
    gguf, *numbers = sys.argv[1:]
    port, num_slots, num_tokens = map(int, numbers)
    params = xllamacpp.CommonParams()
    params.model.path = gguf
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_parallel, params.n_ctx, params.cont_batching = num_slots, num_tokens, True
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.kv_unified, params.cache_ram_mib = False, 0
    server = xllamacpp.Server(params)
    print("listening on", server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
