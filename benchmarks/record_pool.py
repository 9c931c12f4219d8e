"""Records a script against itself: pairs of processes that take turns, as verify measures them.

    python benchmarks/record_pool.py train.py tests/verify/pools/pool_name.json -- --epochs 9

The file is a list of pairs; a pair is a list of blocks; a block is the seconds that its steps took,
`[wall_a, wall_b, cpu_a, cpu_b]`; on a GPU, `wall` is the time between two of its events. The tests
of the statistics count false alarms in draws from such files, so nothing is left out, however odd.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint.experiment.errors import ExperimentError
from torchlint.experiment.intervals import Sample, pair_values
from torchlint.experiment.jobs import Jobs
from torchlint.experiment.request import Request
from torchlint.experiment.rotation import rotate
from torchlint.experiment.subject import AGAIN, ORIGINAL, Variant
from torchlint.runtime.failures import Failed
from torchlint.runtime.probe.run_settings import MEASURE, SURVEY
from torchlint.runtime.program import ProgramError, script
from torchlint.runtime.sandbox import overlayfs
from torchlint.runtime.survey_reader import survey
from torchlint.runtime.workspace import Workspace
from torchlint.verify.compared.changes import Changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torchlint.experiment.rotation import Block

    Pair = tuple[tuple[Block, ...], tuple[Block, ...]]


def record(request: Request, options: argparse.Namespace) -> Iterator[Pair]:
    """The blocks of both sides, pair after pair.

    Raises:
        Failed: a run failed.
        ExperimentError: the script takes no steps, or ends before its blocks do.
    """
    sides = (Variant(ORIGINAL, ()), Variant(AGAIN, ()))
    with Workspace() as workspace:
        kept = overlayfs.available(request.program.root, workspace.root)
        jobs = Jobs(request, Changes(request.program), workspace, kept)
        seen = survey(jobs.job(sides[0], SURVEY), workspace, timeout_s=request.timeout_s)
        if seen.anchor is None:
            raise ExperimentError("The script takes no steps; give one that trains.")
        say(f"{seen.words}, {1000 * seen.step_s:.2f} ms a step, on {seen.device}")
        for pair in range(options.pairs):
            measured = rotate(
                {side.name: jobs.job(side, MEASURE, anchor=seen.anchor) for side in sides},
                workspace,
                warmup=options.warmup,
                settle=1,
                steps=options.steps,
                blocks=options.blocks,
                seed=options.seed + pair,
                timeout_s=request.timeout_s,
                serial_warmup=seen.device == "cuda",
            )
            if measured.finished:
                raise ExperimentError("The script ends before its blocks do; let it train longer.")
            yield measured.blocks[ORIGINAL], measured.blocks[AGAIN]


def numbers(pair: Pair) -> list[list[float]]:
    """What the file says of a pair, to a tenth of a microsecond."""
    return [
        [round(seconds, 7) for seconds in (a.seconds * a.steps, b.seconds * b.steps, a.cpu, b.cpu)]
        for a, b in zip(*pair, strict=True)
    ]


def ratios(pairs: Sequence[Pair]) -> Sample:
    """The log ratios of the pairs."""
    return Sample.of(
        pair_values([([x.seconds for x in a], [x.seconds for x in b]) for a, b in pairs])
    )


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0],
        epilog="The script's own arguments go after --.",
    )
    parser.add_argument("script", help="a training script")
    parser.add_argument("out", type=Path, help="the JSON file to write")
    parser.add_argument("--pairs", type=int, default=20, help="default: 20")
    parser.add_argument("--blocks", type=int, default=12, help="in each process (default: 12)")
    parser.add_argument("--steps", type=int, default=4, help="in each block (default: 4)")
    parser.add_argument("--warmup", type=int, default=10, help="steps before (default: 10)")
    parser.add_argument("--threads", type=int, default=1, help="of torch (default: 1)")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    parser.add_argument("--keep-env", action="store_true", help="leave the allocator as it is")
    parser.add_argument("--seed", type=int, default=0, help="draws the order of the turns")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    return parser.parse_args(words[:end], argparse.Namespace(argv=words[end + 1 :]))


def main() -> int:
    """Records and writes; 1 if a run fails, and then nothing is written."""
    options = arguments()
    pairs: list[Pair] = []
    try:
        request = Request(
            script(options.script, tuple(options.argv)),
            threads=options.threads,
            device=options.device,
            seed=options.seed,
            keep_env=options.keep_env,
        )
        for pair in record(request, options):
            pairs.append(pair)
            ratio = math.exp(ratios([pair]).mean)
            say(f"pair {len(pairs)} of {options.pairs}: x{ratio:.3f}")
    except (Failed, ProgramError, ExperimentError) as error:
        say(str(error))
        return 1
    lines = ",\n".join(json.dumps(numbers(pair)) for pair in pairs)
    options.out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    say(f"{options.out}: {len(pairs)} pairs, sd of the log ratio {ratios(pairs).sd:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
