"""`batchscope replay`: a recording on the live screen, or as a report."""

from __future__ import annotations

from pathlib import Path

from engine.recording import Recording
from tuiapp.commands.compare import Form, print_comparison
from tuiapp.running.outputs import OutputFiles, Outputs
from tuiapp.running.recorded import RECORDED, read_run
from tuiapp.running.runs import DONE
from tuiapp.running.study import Study


def report_recording(path: Path, form: Form, outputs: Outputs) -> int:
    """Print the numbers of a recording, and make the files that are wanted of it.

    Returns:
        The exit code.

    Raises:
        ConfigError: the recording is damaged, or a file cannot be written.
    """
    recording = Recording(path)
    with OutputFiles(outputs, num_runs=1) as files:
        with files.follow(RECORDED) as sinks:
            run = read_run(recording, sinks=sinks)
        study = Study(
            name=path.name,
            title=run.title,
            num_requests=len(run.requests),
            labels=run.labels,
            outcomes=(run.outcome,),
        )
        files.finish(study)
    print_comparison(study, form)
    return DONE
