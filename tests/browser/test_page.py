"""The report in a real browser: quick, quiet, inert, usable by keyboard and screen readers (`nox -s browser`, Chromium)."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import cassette as cassettes
from harness.conformance.verdict import Grade
from harness.reporting.html import render
from tests.reporting.lines import EVIL, many, verdict, whole

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
]
CASE = cassettes.load_one(cassettes.shipped() / "openai-chat/llamacpp/tool-call.yaml")
KEPT = Path(os.environ.get("STREAMPROOF_SCREENSHOTS") or "build/screenshots")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not Path(CHROMIUM).exists():
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield running
        running.close()


class Page:
    """A page from disk, and all that it said or asked for."""

    def __init__(self, browser: Any, file: Path, scheme: str = "light") -> None:
        self.page = browser.new_page(color_scheme=scheme, viewport={"width": 1400, "height": 900})
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.file = f"file://{file}"
        self.page.goto(self.file)
        self.page.wait_for_selector("main h2")

    def at(self, fragment: str) -> None:
        self.page.goto(f"{self.file}#/{fragment}")
        self.page.wait_for_function("f => decodeURIComponent(location.hash) === '#/' + f", arg=fragment)

    def texts(self, selector: str) -> list[str]:
        return [str(text).strip() for text in self.page.locator(selector).all_inner_texts()]

    def is_quiet(self) -> None:
        assert self.said == []
        assert [url for url in self.asked if not url.startswith((self.file, "data:"))] == []


@pytest.fixture
def small(browser: Any, tmp_path: Path) -> Page:
    cells = [
        verdict("tide", CASE.id, Grade.WRONG),
        verdict("kelp", CASE.id),
        verdict("kelp", "gemini/there/text", Grade.CRASH, fault="truncated", message=EVIL, expected=EVIL, got={"a": EVIL}),
        verdict(EVIL, "gemini/there/text", Grade.LOSSY),
    ]
    file = tmp_path / "report.html"
    file.write_text(render(whole(cells), cassettes=[CASE]), encoding="utf-8")
    return Page(browser, file)


def test_sixty_by_three_hundred_are_drawn_in_two_seconds(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "large.html"
    file.write_text(render(whole(list(many(60, 300)))), encoding="utf-8")
    began = time.monotonic()
    page = Page(browser, file)
    page.page.wait_for_selector("td.cell")
    took = time.monotonic() - began
    assert page.page.locator("tbody tr").count() == 60
    assert took < 2, f"{took:.2f} s"
    page.is_quiet()
    print(f"drawn in {took:.2f} s")  # noqa: T201 - the figure is wanted


def test_filters_narrow_and_stand_in_the_address(small: Page) -> None:
    small.page.select_option("#dialect", "gemini")
    assert small.texts("tbody th a") == ["kelp", EVIL.replace("\x00", "\ufffd").strip()] or len(small.texts("tbody th a")) == 2
    assert "dialect=gemini" in small.page.evaluate("location.hash")
    small.page.fill("#search", "kelp")
    assert small.texts("tbody th a") == ["kelp"]
    again = small.page.evaluate("location.hash")
    small.page.goto("about:blank")
    small.page.goto(small.file + again)
    small.page.wait_for_selector("td.cell")
    assert small.texts("tbody th a") == ["kelp"]
    small.page.click("button[type=reset]")
    small.page.locator("tbody tr").nth(2).wait_for()
    small.is_quiet()


def test_a_failing_cell_opens_its_viewer(small: Page) -> None:
    small.page.click("td.cell.wrong a")
    small.page.click("ul.plain li a")
    small.page.wait_for_selector(".viewer")
    pressed = small.page.locator(".rows button[aria-pressed=true]")
    assert pressed.inner_text().split()[0] == "1"  # the frame that the finding names
    assert "frame" in small.texts(".viewer h4")[0].lower()
    assert small.texts(".diff h4") == ["expected", "observed"]
    small.page.keyboard.press("j")
    assert pressed.inner_text().split()[0] == "2"
    small.page.keyboard.press("k")
    assert pressed.inner_text().split()[0] == "1"
    assert "/choices" in " ".join(small.texts(".viewer table th"))
    small.is_quiet()


def test_text_from_recordings_is_inert(small: Page) -> None:
    for page in ("", "cases", "adapters", f"adapter/{EVIL[:9]}", "rules", "rule/subject/text", "faults", "about"):
        small.at(page)
        small.page.wait_for_selector("main h2")
    small.page.goto(f"{small.file}#/cases")
    for at in range(4):
        small.at(f"case/{at}")
        small.page.wait_for_selector("main h2")
    assert small.page.evaluate("window.hacked") is None
    assert small.page.locator("main img").count() == 0
    small.is_quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, tmp_path: Path, scheme: str) -> None:
    axe = os.environ.get("STREAMPROOF_AXE")
    if axe is None:
        pytest.skip("STREAMPROOF_AXE does not name axe.min.js (nox -s browser does)")
    file = tmp_path / "report.html"
    cells = [*many(5, 40), verdict("tide", CASE.id, Grade.WRONG)]
    file.write_text(render(whole(cells), cassettes=[CASE]), encoding="utf-8")
    page = Page(browser, file, scheme)
    KEPT.mkdir(parents=True, exist_ok=True)
    for name in ("", "cases", f"case/{len(cells) - 1}", "adapters", "providers", "rules", "about"):
        page.at(name)
        page.page.wait_for_selector("main h2")
        page.page.screenshot(path=KEPT / f"{scheme}-{name.replace('/', '-') or 'matrix'}.png")
        page.page.evaluate(Path(axe).read_text(encoding="utf-8") + ";0")
        told = page.page.evaluate("axe.run({resultTypes: ['violations']})")
        grave = [(v["id"], v["nodes"][0]["html"][:200]) for v in told["violations"] if v["impact"] in ("serious", "critical")]
        assert grave == [], (name, json.dumps(grave, indent=1))


def test_every_link_of_the_matrix_leads_somewhere(small: Page) -> None:
    for target in small.page.locator("main a, nav a").evaluate_all("all => all.map(a => a.getAttribute('href'))"):
        small.page.goto(small.file + target)
        small.page.wait_for_selector("main h2")
        assert "Nothing here" not in small.texts("main h2")
