"""The documentation site builds without a warning and a network, and its links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import click
import pytest

from torchlint import version
from torchlint.cli import torchlint
from torchlint.config.keys import KEYS
from torchlint.ruleapi.registry import all_rules

pytestmark = pytest.mark.needs("material")
ROOT = Path(__file__).parents[1]
HOME = "https://docs.example/"
REPOSITORY = "https://code.example/torchlint"
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
}
LOADING_LINKS = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload"}
EXTERNAL = {
    "arxiv.org",
    "docs.pytorch.org",
    "github.com",
    "pypi.org",
    "squidfunk.github.io",
    "ui.perfetto.dev",
}
"""Where links may lead that nobody follows here."""


@dataclass
class Page:
    """What one page of the site has and asks for; addresses are absolute."""

    address: str
    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name in ("id", "name"):
            if given.get(name):
                self.page.anchors.add(given[name] or "")
        if tag == "a" and given.get("href"):
            self.page.links.add(urljoin(self.page.address, given["href"]))
        if tag == "link" and LOADING_LINKS & set((given.get("rel") or "").split()):
            self.page.loads.add(urljoin(self.page.address, given["href"]))
        if tag in LOADED and given.get(LOADED[tag]):
            self.page.loads.add(urljoin(self.page.address, given[LOADED[tag]]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. No proxy answers, so that a look into the network fails."""
    folder = tmp_path_factory.mktemp("site")
    nowhere = "http://127.0.0.1:9"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={
            **os.environ,
            "NO_MKDOCS_2_WARNING": "1",
            "TORCHLINT_REPOSITORY": REPOSITORY,
            "TORCHLINT_SITE": HOME,
            "http_proxy": nowhere,
            "https_proxy": nowhere,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


@cache
def pages(site: Path) -> dict[str, Page]:
    """The pages by their address."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        address = HOME + path.relative_to(site).as_posix().removesuffix("index.html")
        page = found[address] = Page(address)
        _Reader(page).feed(path.read_text(encoding="utf-8"))
    return found


def test_it_builds_without_a_warning_and_every_link_on_it_leads_somewhere(site: Path) -> None:
    broken = []
    for page in pages(site).values():
        for link in page.links | page.loads:
            address, _, anchor = link.partition("#")
            if not address.startswith(HOME):
                continue
            target = pages(site).get(address)
            file = site / unquote(urlsplit(address).path.lstrip("/"))
            found = file.is_file() if target is None else not anchor or anchor in target.anchors
            if not found and not page.address.endswith("404.html"):
                broken.append(f"{page.address}: {link}")
    assert broken == []


def test_links_to_elsewhere_are_known(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    links = {
        link for page in pages(site).values() for link in page.links if not link.startswith(HOME)
    } - {REPOSITORY}
    with capsys.disabled():
        sys.stdout.write("".join(f"\nexternal: {link}" for link in sorted(links)) + "\n")
    assert {urlsplit(link).hostname for link in links} - EXTERNAL == set()


def test_each_page_links_to_the_repository(site: Path) -> None:
    without = [page.address for page in pages(site).values() if REPOSITORY not in page.links]
    assert without == []


def test_the_table_of_rules_is_on_the_site_once(site: Path) -> None:
    assert not [address for address in pages(site) if "sources/rules/README" in address]


def test_a_link_to_what_a_page_is_made_from_leads_to_the_page_unless_it_names_the_code(
    site: Path,
) -> None:
    tour, guide = (pages(site)[f"{HOME}{name}/"] for name in ("tour", "write-a-rule"))
    profile = pages(site)[f"{HOME}profile/"]
    assert f"{HOME}rules/conv-bias-before-norm/" in tour.links
    assert {f"{HOME}runtime/", f"{HOME}runtime/kernel-choice/"} <= profile.links
    assert f"{HOME}sources/rules/model/attention_weights_discarded.py/" in guide.links


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = {link for page in pages(site).values() for link in page.loads}
    assert loaded
    assert {link for link in loaded if not link.startswith((HOME, "data:"))} == set()
    for path in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"(?:url\(|@import\s+)[\"']?(?:https?:)?//[^)]*", text) == [], path


def test_each_rule_has_the_page_that_findings_name(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version, "SITE", HOME)
    index = pages(site)[f"{HOME}rules/"]
    for rule in all_rules().values():
        assert rule.url in pages(site)
        assert rule.url in index.links
        text = (site / "rules" / rule.name / "index.html").read_text(encoding="utf-8")
        assert rule.code in text


def test_each_command_has_its_help_on_the_site(site: Path) -> None:
    commands = pages(site)[f"{HOME}commands/"]
    names = torchlint.list_commands(click.Context(torchlint))
    assert names
    assert {f"torchlint-{name}" for name in names} - commands.anchors == set()


def test_each_key_has_its_section_on_the_site(site: Path) -> None:
    assert set(KEYS) - pages(site)[f"{HOME}configuration/"].anchors == set()
