"""What all tests share: where the real sessions lie, how hard Hypothesis tries, and that CI skips nothing."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

CI = os.environ.get("CI") == "true"
SHARED = Path(os.environ.get("RULEBOOK_SHARED", Path(__file__).resolve().parents[2] / "shared"))

settings.register_profile(
    "default", deadline=None, max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", settings.get_profile("default"), max_examples=20_000, derandomize=False)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-golden", action="store_true", help="write the golden reports anew")
    parser.addoption("--judges", type=int, default=24, help="how many scoring scripts run at once")
    parser.addoption("--mutations", type=int, default=1000, help="how many damaged session files are read")


@pytest.fixture(scope="session")
def shared_sessions() -> Path:
    """The folder of real sessions that lies beside the project."""
    folder = SHARED / "sessions"
    if not folder.is_dir():
        pytest.skip(f"the real sessions are not here: looked for {folder} (set RULEBOOK_SHARED)")
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):  # noqa: ARG001
    """In CI a test that cannot run is a failure: everything it needs is to be installed there."""
    report = yield
    if CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report
