"""Hooks of mkdocs: add the generated pages, and redirect links to them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import generated
import repository
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page


ADDRESSES: Final = ("TORCHLINT_REPOSITORY", "READTHEDOCS_GIT_CLONE_URL")
"""Variables that may have the address of the repository."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds every rule to the navigation, and a link to the repository if its address is known."""
    config.nav = _navigation(config.nav or [])
    address = next(filter(None, map(os.environ.get, ADDRESSES)), None)
    if address is not None:
        icon = "fontawesome/brands/git-alt"
        config.extra["social"] = [{"icon": icon, "link": address, "name": "Repository"}]
    return config


def _navigation(items: list[object]) -> list[object]:
    found: list[object] = []
    for item in items:
        if not isinstance(item, dict):
            found.append(item)
            continue
        ((title, target),) = item.items()
        if isinstance(target, list):
            found.append({title: _navigation(target)})
        elif target == "rules/":
            found.append({title: generated.rule_navigation()})
        elif target == "runtime/":
            found.append({title: generated.kind_navigation()})
        else:
            found.append(item)
    return found


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages, and the files of the repository that pages link to."""
    root = Path(config.config_file_path).parent
    pages = {**generated.pages(), **repository.pages(root)}
    for file in files.documentation_pages():
        pages.update(repository.linked_sources(root, file.src_uri, file.content_string))
    for uri, text in list(pages.items()):
        pages.update(repository.linked_sources(root, uri, text))
    for uri, text in pages.items():
        files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Points links out of docs/ to the site's copy of the file."""
    root = Path(config.config_file_path).parent
    return repository.with_site_links(root, page.file.src_uri, markdown)
