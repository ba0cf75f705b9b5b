-- One row a part: the last position given out. An append locks its parts' rows first and holds them to its commit, so
-- positions are dense and become visible in their order. Half-empty pages let every update stay in its page (HOT).
create table store.part_head (
  part smallint primary key,
  last_pos bigint not null default 0
) with (fillfactor = 50);
insert into store.part_head (part) select generate_series(0, parts - 1) from store.layout;
