"""Fixtures of the daemon's tests: a cluster."""
import pytest

import fake_cluster


@pytest.fixture
def cluster():
    """A cluster behind an API server for one test, at `cluster.port`."""
    with fake_cluster.serving(fake_cluster.Cluster()) as its:
        yield its
