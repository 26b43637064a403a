"""`compile_library`: have this machine's C++ compiler build the kernels for its own processor.

Once for each processor, compiler and version of the kernels; the library is kept in the user's
cache.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.loading import LoadStage, LoadStep, Report, report_nowhere
from engine.runners.native.kept import WORKSHOP, delete_superseded, is_whole, note_use, seal

FLAGS = (
    *("-std=c++17", "-O3", "-march=native", "-ffp-contract=fast", "-fopenmp"),
    *("-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-math-errno", "-w"),
)
COMPILERS = ("c++", "g++", "clang++")
COMPILE_SECONDS = 300.0
MACHINES = ("x86_64", "AMD64")


class CompilerError(Exception):
    """Why there is no library, and what would help."""


def compile_library(report: Report = report_nowhere, *, is_anew: bool = False) -> Path:
    """Build the library unless it is there; report only if it is not, for it takes seconds.

    Args:
        is_anew: build it though it is there, since it is of no use.

    Raises:
        CompilerError: there is no compiler, or it cannot.
    """
    if platform.machine() not in MACHINES:
        raise CompilerError(f"the kernels have not been tried on {platform.machine()}")
    compiler = find_compiler()
    sources = sorted(Path(__file__).parent.glob("*.cpp"))
    library = _cache_folder() / f"kernels-{_digest(compiler)}.so"
    if is_anew or not is_whole(library):
        report(LoadStep(LoadStage.KERNELS))
        _compile(compiler, sources, library)
    note_use(library)
    return library


def find_compiler() -> str:
    """The compiler's place, as a shell writes it; the environment's `CXX` before any other.

    What follows a name in `CXX` goes with it, as in `ccache g++`.

    Raises:
        CompilerError: there is none.
    """
    wanted = os.environ.get("CXX")
    for name in (wanted,) if wanted else COMPILERS:
        try:
            first, *rest = shlex.split(name)
        except ValueError as error:
            raise CompilerError(f"CXX={name} is no command: {error}") from error
        if place := shutil.which(first):
            return shlex.join((place, *rest))
    missing = f"CXX={wanted} is not there" if wanted else "no C++ compiler is installed (g++)"
    raise CompilerError(missing)


def _cache_folder() -> Path:
    """Where the user's libraries are kept.

    Raises:
        CompilerError: platformdirs, which knows, is missing, as on a machine that only runs models.
    """
    try:
        from platformdirs import user_cache_path
    except ImportError as error:
        raise CompilerError("platformdirs is not installed (pip install platformdirs)") from error
    return user_cache_path("batchscope", appauthor=False)


def _digest(compiler: str) -> str:
    """Names a library after all that it depends on."""
    content = hashlib.sha256("\0".join((*FLAGS, compiler, _processor())).encode())
    for source in sorted(Path(__file__).parent.glob("*.[ch]*")):
        content.update(source.read_bytes())
    return content.hexdigest()[:16]


def _processor() -> str:
    """What the processor is and can do, as far as it can be told."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags"))}))


def _compile(compiler: str, sources: list[Path], library: Path) -> None:
    """Compile to a file beside the library, so that no process ever opens half of one."""
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=library.parent, prefix=WORKSHOP) as folder:
            made = Path(folder, library.name)
            _build(compiler, sources, made)
            seal(made)
            made.replace(library)
            delete_superseded(library)
    except subprocess.CalledProcessError as error:
        lines = (error.stderr.strip() or "nothing").splitlines()
        said = next((line for line in lines if "error:" in line), lines[0])
        raise CompilerError(f"{compiler} cannot compile the kernels: {said}") from error
    except subprocess.TimeoutExpired as error:
        raise CompilerError(f"{compiler} takes more than {COMPILE_SECONDS:.0f} s") from error
    except OSError as error:
        raise CompilerError(f"cannot compile into {library.parent}: {error.strerror}") from error


def _build(compiler: str, sources: list[Path], library: Path) -> None:
    """Compile the sources side by side, since somebody waits, and link what comes of them."""
    objects = [str(library.with_name(f"{source.stem}.o")) for source in sources]
    with ThreadPoolExecutor(len(sources)) as pool:
        runs = [
            pool.submit(_run, compiler, "-c", str(source), "-o", made)
            for source, made in zip(sources, objects, strict=True)
        ]
    for run in runs:
        run.result()
    _run(compiler, "-shared", *objects, "-o", str(library))


def _run(compiler: str, *arguments: str) -> None:
    command = [*shlex.split(compiler), *FLAGS, *arguments]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=COMPILE_SECONDS)
