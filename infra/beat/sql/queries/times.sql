select (extract(epoch from clock_timestamp()) * 1000)::bigint, (select at_ms from steward.beat)
