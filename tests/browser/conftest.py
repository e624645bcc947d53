"""A real browser: headless Chromium, driven by Playwright."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from io import BytesIO

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",  # as root, in a container
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SECONDS = 300.0  # that anything may take; nothing is measured


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    """Chromium: ``$WARPTSP_CHROMIUM``, one on the PATH, or Playwright's; the test is skipped without any."""
    # Not at the top: who skips there ends the run of all tests.
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install warptsp[browser]"
    )
    pytest.importorskip("PIL.Image", reason="needs Pillow: pip install warptsp[browser]")
    found = [os.environ.get("WARPTSP_CHROMIUM"), *map(shutil.which, NAMES), None]
    # For a module: its event loop keeps others of the thread from running.
    with playwright.sync_playwright() as started:
        try:
            browser = started.chromium.launch(
                executable_path=next(filter(None, found), None), args=list(FLAGS)
            )
        except playwright.Error as error:
            pytest.skip(
                f"needs Chromium ({', '.join(NAMES)} or WARPTSP_CHROMIUM): {str(error).splitlines()[0]}"
            )
        yield browser
        browser.close()


class Opened:
    """A page in the browser, and what it complained about and asked for."""

    def __init__(self, page: object) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._heard)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))

    def _heard(self, message: object) -> None:
        if message.type in ("warning", "error") and "GPU stall due to ReadPixels" not in message.text:
            self.complaints.append(message.text)

    def settle(self) -> None:
        """Wait until the page is there and its picture at rest."""
        self.page.evaluate("() => warptspPage.ready")
        self.until("warptspPage.view === undefined || (warptspPage.view.settled && !warptspPage.view.asked)")

    def until(self, condition: str) -> None:
        """Wait for a condition; Playwright's own way needs eval, which the page's policy forbids."""
        end = time.monotonic() + SECONDS
        while not self.page.evaluate(f"() => Boolean({condition})"):
            assert time.monotonic() < end, f"never came true: {condition}; {self.complaints}"
            time.sleep(0.02)

    def ink(self, selector: str = "#picture") -> np.ndarray:
        """How much each pixel of an element differs from its paper, 0 to 1; controls above it are hidden."""
        return np.abs(self.colours(selector) - self.paper()).max(axis=2)

    def paper(self) -> np.ndarray:
        """The colour that the picture is drawn on."""
        colour = self.page.evaluate(
            "() => getComputedStyle(document.getElementById('stage')).backgroundColor"
        )
        return np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255.0

    def colours(self, selector: str = "#picture") -> np.ndarray:
        from PIL import Image

        self._hide("hidden")
        shot = self.page.locator(selector).screenshot()
        self._hide("")
        return np.asarray(Image.open(BytesIO(shot)).convert("RGB"), dtype=float) / 255.0

    def _hide(self, visibility: str) -> None:
        """Hide what lies above the picture; by a style sheet of the test's own it may not be."""
        self.page.evaluate(
            "(visibility) => { for (const id of ['zoom', 'here', 'labels', 'world']) "
            "document.getElementById(id)?.style.setProperty('visibility', visibility); }",
            visibility,
        )

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text().replace("\u2009", "")


@pytest.fixture
def open_page(chromium: object) -> Iterator[Callable[..., Opened]]:
    """Open a file or an address; nobody may have complained in the end."""
    contexts, pages = [], []

    def open_page(
        address: object, *, prepare: Callable[[object], None] | None = None, **options: object
    ) -> Opened:
        context = chromium.new_context(**{"viewport": {"width": 1000, "height": 720}, **options})
        context.set_default_timeout(1000 * SECONDS)
        contexts.append(context)
        opened = Opened(context.new_page())
        pages.append(opened)
        if prepare is not None:
            prepare(opened.page)
        opened.page.goto(address if isinstance(address, str) else address.as_uri())
        return opened

    yield open_page
    for context in contexts:
        context.close()
    assert [complaint for page in pages for complaint in page.complaints] == []
