"""A lesson takes seconds: it is made once for all tests of this folder."""

from functools import cache
from importlib import import_module

import pytest


@pytest.fixture(scope="session")
def lesson_of():
    """lesson_of("kernel"): that chapter's lesson with seed 0. Tests look at it and leave it be."""

    @cache
    def make(name):
        return import_module(f"regard.course.{name}").lesson()

    return make


@pytest.fixture(scope="session")
def values_of(lesson_of):
    """values_of("kernel")["query 15: weight of key 10"]: what came out."""

    def values(name):
        return {number.name: number.value for number in lesson_of(name).numbers}

    return values
