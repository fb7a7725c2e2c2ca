"""Where the tests find what they read."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
CASES = ROOT / "tests" / "cases"
SHARED = ROOT.parent / "shared"  # real logs and traces, beside the checkout of those who develop driftlab

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared folder is not beside this checkout")
