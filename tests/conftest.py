"""What every test run shares."""

import os

from hypothesis import HealthCheck, settings

# A test must not reach for the network: what it needs is installed.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

settings.register_profile(
    "driftlab", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("driftlab")
