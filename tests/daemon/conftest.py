"""Fixtures of the daemon's tests: a cluster."""
import pytest

import fake_cluster


@pytest.fixture
def cluster():
    """An API server with a cluster of the test's own, at `cluster.port`."""
    with fake_cluster.serving(fake_cluster.Cluster()) as its:
        yield its
