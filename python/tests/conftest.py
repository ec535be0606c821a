import os

import hypothesis
import pytest

hypothesis.settings.register_profile("gate", max_examples=150, deadline=None, derandomize=True)
hypothesis.settings.register_profile("long", max_examples=5000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("B2ND_HYPOTHESIS", "gate"))


@pytest.fixture
def path(tmp_path):
    return os.fspath(tmp_path / "array.b2nd")
