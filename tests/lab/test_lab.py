"""JupyterLab, really started, really driven: open, run, label, reload, kill."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from driftlab.lab.notebooks import FIRST, command, working_copy
from driftlab.trace.labels.store import LabelStore

pytestmark = pytest.mark.slow

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
PATIENT = 45_000  # milliseconds
LABELLER = ".driftlab-label[tabindex='0']"
SHOTS = os.environ.get("DRIFTLAB_SHOTS")  # a folder, to look at what the browser saw


def test_a_working_copy_has_what_the_notebooks_read_and_keeps_your_changes(tmp_path: Path) -> None:
    place = working_copy(tmp_path / "lab")
    assert len(list((place / "notebooks").glob("*.ipynb"))) == 6
    assert (place / "notebooks" / "../data/demo/loops.jsonl").exists()
    (place / "notebooks" / FIRST).write_text("mine")
    assert (working_copy(place) / "notebooks" / FIRST).read_text() == "mine"


def test_the_command_opens_the_first_notebook(tmp_path: Path) -> None:
    words = command(tmp_path, browser=False, port=9999)
    assert "--no-browser" in words
    assert "--port=9999" in words
    assert any(word.endswith(f"/notebooks/{FIRST}") for word in words)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, int]]:
    pytest.importorskip("jupyterlab", reason="needs the extra `lab`")
    place = working_copy(tmp_path_factory.mktemp("lab"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [*command(place, browser=False, port=port), "--ServerApp.allow_root=True", "--IdentityProvider.token="]
    words += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    log = (place / "lab.log").open("wb")
    settings = os.environ | {"JUPYTERLAB_SETTINGS_DIR": str(place / "s"), "JUPYTERLAB_WORKSPACES_DIR": str(place / "w")}
    server = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True, env=settings)
    try:
        url = f"http://127.0.0.1:{port}"
        wait(lambda: answers(url), "JupyterLab did not start")
        yield place, url, server.pid
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=30)
        log.close()


@pytest.fixture
def page() -> Iterator[Any]:
    if BROWSER is None:
        pytest.skip("no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = driver.chromium.launch(executable_path=BROWSER, args=quiet)
        tab = browser.new_page(viewport={"width": 1400, "height": 1000})
        tab.set_default_timeout(PATIENT)
        yield tab
        browser.close()


def test_label_reload_and_kill(lab: tuple[Path, str, int], page: Any) -> None:
    place, url, server = lab
    labels = place / "study" / "labels.jsonl"
    run_all(page, url)
    labeller = page.locator(LABELLER)
    cells = page.locator(".jp-Cell").count()

    # keyboard and mouse; the keys are JupyterLab shortcuts too (x cuts a cell), which must not fire
    labeller.locator(".head").click()
    press(page, "ArrowRight", "ArrowRight", "x", "m", "[")
    expect(labeller, "stall from step 2")
    labeller.locator("svg >> nth=0").locator(".touch[data-t='20']").click()
    labeller.locator(".step-head b", has_text="step 20").wait_for()
    assert labeller.locator(".touch.on").first.get_attribute("data-t") == "20"
    press(page, "]")
    labeller.locator("button[data-key='s']").click()
    expect(labeller, "saved as stalled")
    press(page, "2", "/")
    page.keyboard.type("same files, x times")
    press(page, "Escape")
    wait(lambda: said(labels).note == "same files, x times", "the note is not on disk")
    assert said(labels).label == "stalled"
    assert [(s.start, s.end, s.kind) for s in said(labels).stalls] == [(2, 21, "cycle")]
    assert page.locator(".jp-Cell").count() == cells
    shoot(page, labeller, "labelled")

    # reload: the label is on disk, and the labeller comes back with it
    page.reload()
    run_all(page, url)
    labeller = page.locator(LABELLER)
    expect(labeller, "1 of 3 runs labelled")
    assert said(labels).label == "stalled"

    # the kernel dies in the middle of a label: nothing is lost
    labeller.locator(".head").click()
    press(page, "ArrowRight", "ArrowRight", "ArrowRight", "[")
    expect(labeller, "stall from step 3")
    name = labeller.locator(".head b").inner_text()
    kill_kernel(server)
    desk = json.loads((place / "study" / "labels.desk-me.json").read_text())
    assert desk["drafts"][name]["start"] == 3
    page.reload()
    run_all(page, url)
    labeller = page.locator(LABELLER)
    expect(labeller, "stall from step 3")
    assert labeller.locator(".head b").inner_text() == name
    shoot(page, labeller, "after_the_kill")


def run_all(page: Any, url: str) -> None:
    """Open the first notebook, run all its cells, wait for the labeller."""
    page.goto(f"{url}/lab/tree/notebooks/{FIRST}")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()
    page.locator("text=/ipykernel\\) \\| Idle/").first.wait_for()
    page.locator("#jp-MainMenu >> text=Run").click()
    page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()
    page.locator("text=/you have labelled \\d of/").first.wait_for()
    page.locator(LABELLER).scroll_into_view_if_needed()


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def expect(labeller: Any, text: str) -> None:
    labeller.locator(f"text={text}").first.wait_for()


def said(labels: Path) -> Any:
    return LabelStore(labels).get("incident", "me")


def kill_kernel(server: int) -> None:
    """End the kernels of this server, and only those, without a chance to say goodbye."""
    psutil = pytest.importorskip("psutil")
    inside = psutil.Process(server).children(recursive=True)
    kernels = [each for each in inside if "ipykernel" in " ".join(each.cmdline())]
    assert kernels
    for each in kernels:
        each.kill()


def shoot(page: Any, labeller: Any, name: str) -> None:
    if SHOTS:
        labeller.screenshot(path=f"{SHOTS}/{name}.png")
        page.screenshot(path=f"{SHOTS}/{name}_page.png")


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/api/status", timeout=2) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def wait(done: Callable[[], bool], why: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, why
        time.sleep(0.2)
