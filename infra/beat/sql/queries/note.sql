-- Of several stewards the latest beat counts.
insert into steward.beat (at_ms) values (%s::bigint)
  on conflict (only_row) do update set at_ms = greatest(steward.beat.at_ms, excluded.at_ms)
