"""Campaigns: the faults that users really hit, made to happen many times. `make soak` runs them
all in full, `make test` a short form of each."""

from soak import (
    architectures,
    damage,
    ids,
    kills,
    leaks,
    lengths,
    loading,
    memory,
    reading,
    resuming,
    runs,
    saving,
    tokens,
    writers,
)
from soak.campaign import Campaign

CAMPAIGNS: tuple[Campaign, ...] = (
    *loading.CAMPAIGNS,
    *kills.CAMPAIGNS,
    *saving.CAMPAIGNS,
    *damage.CAMPAIGNS,
    *resuming.CAMPAIGNS,
    *runs.CAMPAIGNS,
    *memory.CAMPAIGNS,
    *architectures.CAMPAIGNS,
    *writers.CAMPAIGNS,
    *reading.CAMPAIGNS,
    *tokens.CAMPAIGNS,
    *ids.CAMPAIGNS,
    *lengths.CAMPAIGNS,
    *leaks.CAMPAIGNS,
)
