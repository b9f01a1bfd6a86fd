"""Parts without a model: attention and masks, positions, norms, feed-forward, embeddings, cache."""
