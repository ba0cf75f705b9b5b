-- A projection is a cache with its checkpoint in it: what a crash of the server takes back is applied again, so a commit
-- need not wait for the disk.
set synchronous_commit = off;
set statement_timeout = '60s';
-- A batch's few rows are found one by one through their keys, however large the table has become. Left to statistics
-- that are not there yet, Postgres read the whole table for each batch.
set enable_seqscan = off;
set enable_hashjoin = off;
set enable_mergejoin = off;
set plan_cache_mode = force_generic_plan;
-- The session holds the locks of its projections, so the server too must notice a dead peer soon.
set tcp_keepalives_idle = 5;
set tcp_keepalives_interval = 2;
set tcp_keepalives_count = 3;
