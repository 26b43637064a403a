"""The page as text, and as a browser shows it."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from engine.config import ConfigError
from tests.browser import FLAGS, find_browser
from tests.studies import small_study
from tuiapp.export.page import make_page, write_page

ALONE = ("--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=2000")
VOID = {"meta"}
BROWSERS_OWN = re.compile(r"https?://([\w-]+\.)*(google|googleapis|gvt1)\.com/")  # its updates


class Outline(HTMLParser):
    """Checks that what is opened is closed, and collects elements and what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        names = ("src", "href", "xlink:href", "action", "data", "poster", "srcset")
        self.references += [value for name, value in attrs if name in names]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page() -> str:
    return make_page(*small_study())


def test_it_is_whole_and_refers_to_nothing(page):
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert outline.references == []
    assert not re.search(r"url\(|@import|https?://|<script", page)
    assert "default-src 'none'" in page


def test_it_has_a_timeline_of_every_run_three_curves_and_the_table(page):
    assert page.count('class="timeline"') == 2
    assert page.count("<figure>") == 3
    assert page.count("<polyline") == 5, "static answers at once, so it has no gaps"
    assert page.count('<rect x="') == 9, "prefill and decode of four requests, and one held"
    assert "requests completed" in page
    assert page.count("<li>") == 3


def test_text_from_outside_is_shown_and_not_obeyed(page):
    assert "Small | &lt;b&gt;bold&lt;/b&gt;" in page
    assert "<b>bold" not in page


def test_a_page_of_runs_that_are_not_over_says_so(tmp_path):
    write_page(tmp_path / "r.html", None, ())
    assert "The runs are not over yet." in (tmp_path / "r.html").read_text("utf-8")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"r\.html: cannot be written: No such file"):
        write_page(tmp_path / "no" / "r.html", None, ())


@pytest.fixture
def browser() -> str:
    return find_browser()


def browse(browser: str, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    address = (folder / "r.html").as_uri()
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [browser, *FLAGS, *ALONE, profile, *flags, address]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)


def test_a_browser_draws_it_and_asks_for_nothing_else(browser, tmp_path):
    write_page(tmp_path / "r.html", *small_study())
    log = tmp_path / "net.json"
    done = browse(browser, tmp_path, "--dump-dom", f"--log-net-log={log}")
    assert done.stdout.count("<polyline") == 5
    assert done.stdout.count('class="timeline"') == 2
    addresses = set(re.findall(r'"url":"([^"]+)"', log.read_text("utf-8", "replace")))
    requested = {each for each in addresses if re.match(r"(https?|wss?):", each)}
    assert {each for each in requested if not BROWSERS_OWN.match(each)} == set()


def test_a_browser_paints_the_colours_of_the_work(browser, tmp_path):
    write_page(tmp_path / "r.html", *small_study())
    picture = tmp_path / "r.png"
    browse(browser, tmp_path, f"--screenshot={picture}", "--window-size=1000,900")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000, "an empty page would be far smaller"
