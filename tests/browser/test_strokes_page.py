"""The page of strokes in a real browser: both orders, and the way of the tool."""

import numpy as np
import pytest

from warptsp.report import write_strokes
from warptsp.strokes import arrange


@pytest.mark.parametrize("painter", ["WebGL", "canvas"])
def test_the_tool_goes_its_way(painter, tmp_path, open_page):
    rows = [np.array([[0.0, y], [100.0, y]]) for y in (0.0, 20.0, 10.0, 30.0)]
    plan = arrange(rows, home=[0, 0], back=True, kicks=10, threads=1, device="cpu")
    write_strokes(tmp_path / "p.html", rows, plan, title="rows <b>", unit="mm")
    opened = open_page((tmp_path / "p.html").as_uri() + ("" if painter == "WebGL" else "#plain"))
    page = opened.page
    opened.until("warptspPage.view?.settled && !warptspPage.view.asked")
    assert page.evaluate("() => warptspPage.view.painter.name") == painter
    assert opened.text("h1") == "rows <b>"
    assert f"travel {plan.travel:g} mm" in opened.text("#shown")

    def colours():
        """Pixels that are more blue than red, and more red than blue."""
        opened.until("warptspPage.view.settled && !warptspPage.view.asked")
        red, _, blue = np.moveaxis(opened.colours(), 2, 0)
        return (blue - red > 0.2).sum(), (red - blue > 0.2).sum()

    strokes, travel = colours()
    assert strokes > 4 * travel > 0
    page.check("#before")
    assert f"travel {plan.travel_before:.5g} mm" in opened.text("#shown")
    assert colours()[1] > 2 * travel
    # Half of the way: the first two rows of the file, and no more than that.
    page.locator("#slider").fill("500")
    assert "after 50 %" in opened.text("#shown")
    half = colours()
    assert half[0] < 0.7 * strokes
    page.locator("#slider").fill("0")
    assert max(colours()) < 100  # a dot at the home position
    page.keyboard.press("Escape")
    page.locator("#play").click()
    opened.until("Number(document.getElementById('slider').value) > 10")
    page.locator("#play").click()
    assert page.locator("#play").get_attribute("aria-pressed") == "false"
