/// The binding to liblmdb. Environments, transactions, databases and cursors, with LMDB's own words.
