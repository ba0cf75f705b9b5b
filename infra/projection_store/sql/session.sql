-- A projection is a cache with its checkpoint in it: what a crash of the server takes back is applied again, so a commit
-- need not wait for the disk. The session holds the locks of its projections, so the server too must notice a dead peer.
set synchronous_commit = off;
set enable_seqscan = on;
set statement_timeout = '60s';
set tcp_keepalives_idle = 5;
set tcp_keepalives_interval = 2;
set tcp_keepalives_count = 3;
