"""Data that need not fit into memory: an ordered list of row blocks, each readable on its own, in any process.

    shard.py, files.py, parquet.py, cells.py, lazy.py    where one block comes from: `Shard`, picklable, opened late
    conversion.py                                        a block as `Views`, by the rules of the estimator
    reader.py                                            two shards at a time: the one in use, the one read ahead
    container.py, source.py                              `ShardedViews`: what everything that takes views takes
    joining.py                                           batches and views of several shards as one

A `ShardedViews` is a `Views`: batches are gathered from shards, blocks go shard by shard, and an epoch takes shards in
random order and shuffles rows within a buffer. So there is no second loop: drivers, objectives and queries see no
difference. Rows are known by number; beside the shards, a few whole numbers for each row are in memory, and targets.
"""
