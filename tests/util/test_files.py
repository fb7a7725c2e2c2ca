"""Files that are either whole or absent."""

import pytest

from driftlab._util.errors import InputError, MissingExtra
from driftlab._util.extras import need
from driftlab._util.files import replacing


def test_a_failure_leaves_what_was_there(tmp_path):
    target = tmp_path / "rule.toml"
    target.write_text("old")
    with pytest.raises(TypeError), replacing(target) as temporary:
        temporary.write_text(42)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_result_is_readable_as_any_other_file(tmp_path):
    (tmp_path / "plain").write_text("")
    with replacing(tmp_path / "made") as temporary:
        temporary.write_text("")
    assert (tmp_path / "made").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_missing_package_names_its_extra():
    with pytest.raises(MissingExtra, match=r"no_such_package is not installed; run: pip install 'driftlab\[study\]'"):
        need("no_such_package.part", "study")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    for place, reason in (("folder", "is a folder; name a file"), ("file/rule.toml", "its folder .*file' cannot be")):
        with pytest.raises(InputError, match=f"{place}: cannot be written: {reason}"), replacing(tmp_path / place):
            pass
    assert {path.name for path in tmp_path.iterdir()} == {"file", "folder"}
