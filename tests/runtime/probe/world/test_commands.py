"""Which commands would send files to another machine, and what commands are called."""

from __future__ import annotations

import shlex
import sys

import pytest

from torchlint.runtime.probe.world import commands

UPLOADS = """
git push
git push --force origin main
git -C /some/where -c user.name=me push
git lfs push origin main
aws s3 cp model.pt s3://bucket/model.pt
aws --profile me s3 sync out s3://bucket/out
aws s3 mv a s3://bucket/a --quiet
aws s3 rm s3://bucket/old
aws s3api put-object --bucket b --key k --body f
gsutil -m cp -r out gs://bucket/out
gsutil rsync out gs://bucket
gcloud storage cp out gs://bucket
az storage blob upload --file x
azcopy copy out https://account.blob.core.windows.net/c
rclone copy out remote:bucket
rclone sync out remote:
scp model.pt me@host:models/
scp -r out host:/data
rsync -av out/ me@host:/data
rsync -a out/ rsync://host/module
huggingface-cli upload me/model .
hf upload me/model out
hf repo create model
wandb sync wandb/offline-run-1
python -m wandb sync dir
python3 -m awscli s3 cp a s3://b
kaggle datasets version -p out -m new
kaggle kernels push
dvc push
twine upload dist/a.whl
docker push me/image
curl -T model.pt https://host/
curl --upload-file model.pt https://host/
curl -X POST -d @f https://host/
curl -XPUT https://host/
curl -F file=@model.pt https://host/
curl --data '{"a": 1}' https://hooks.slack.com/x
wget --post-file=model.pt https://host/
wget --method=PUT --body-file=x https://host/
sudo git push
env A=1 B=2 git push
A=1 git push
nohup timeout 30 git push
nice -n 10 rsync a host:b
/usr/bin/git push
bash -c 'git push'
sh -ec 'cd out && git push'
sftp host
""".strip().splitlines()

OTHERS = """
git status
git commit -m push
git stash push
git pull
git add push
git rev-parse HEAD
git
aws s3 cp s3://bucket/data.tar data.tar
aws s3 sync s3://bucket/data data
aws s3 ls
aws sts get-caller-identity
aws s3api get-object --bucket b --key k f
gsutil cp gs://bucket/data .
gsutil ls gs://bucket
gcloud auth list
rclone copy remote:data data
scp host:data .
rsync -av me@host:/data/ data/
rsync -a a/ /mnt/b
hf download me/model
huggingface-cli whoami
wandb login
kaggle datasets download x
dvc pull
docker ps
curl -L -o data.zip https://host/data.zip
curl -sSfL https://host/
curl -G -d q=1 https://host/
curl -O https://host/x
wget -d https://host/
wget -T 10 https://host/
nvidia-smi
echo git push
python train.py --push
python -m pip install x
bash run.sh
bash -c 'git pull'
sh -c ls push
make push-button
cp a s3
""".strip().splitlines()


@pytest.mark.parametrize("command", UPLOADS)
def test_an_upload_is_known_as_words_and_in_a_shell(command: str) -> None:
    assert commands.uploads(shlex.split(command))
    assert commands.uploads([command])


@pytest.mark.parametrize("command", OTHERS)
def test_what_fetches_or_stays_here_is_let_through(command: str) -> None:
    assert not commands.uploads(shlex.split(command))
    assert not commands.uploads([command])


@pytest.mark.parametrize(
    "text",
    [
        "cd out && git add . && git push",
        "git pull; git push origin 'a b'",
        "tar c out | ssh host cat; rsync out host:",
        "(cd out; git push)",
        "true\ngit push",
        "git push &",
        "echo 'an open quote\ngit push",
    ],
)
def test_an_upload_is_found_anywhere_in_a_line_for_a_shell(text: str) -> None:
    assert commands.uploads([text])


@pytest.mark.parametrize(
    "words", [[], [""], ["sh", "-c"], ["env"], ["sudo", "-n"], ["python", "-m"]]
)
def test_a_command_that_says_nothing_is_not_an_upload(words: list[str]) -> None:
    assert not commands.uploads(words)


def test_doing_nothing_is_not_an_upload() -> None:
    assert not commands.uploads(commands.NOTHING)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["/usr/bin/git", "rev-parse", "HEAD"], "git rev-parse …"),
        (["sh", "-c", "hostname >\n/tmp/host.txt"], "sh -c hostname > /tmp/host.txt"),
        (["cp", "/data/a.txt", "b.txt"], "cp a.txt …"),
        (["nvidia-smi"], "nvidia-smi"),
        ([sys.executable, "/some/where/eval.py", "--x"], "eval.py …"),
        (["g++", "-O3", "/tmp/a.cpp"], "g++ -O3 a.cpp"),
        (["python", "-m", "pkg.run", "x"], "python -m pkg.run …"),
        (["git  push\norigin"], "git push origin"),
        (["echo", "\udcff"], "echo \\xff"),
    ],
)
def test_a_command_is_told_in_few_words(command: list[str], shown: str) -> None:
    assert commands.described(command).endswith(shown)


def test_a_long_command_is_cut() -> None:
    assert len(commands.described(["x " * 200])) == 100


@pytest.mark.parametrize("command", ["ls", b"ls", ["ls"], (b"ls",)])
def test_a_command_is_words_in_any_of_its_spellings(command: object) -> None:
    assert commands.words_of(command) == ["ls"]
