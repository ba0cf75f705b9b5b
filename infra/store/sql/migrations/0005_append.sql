-- Appends a group of commands in one transaction; each is stored whole or gets a verdict and leaves nothing.
--
-- s_* has one element a (command, stream), e_* one an event, in order of command and idx. `item` numbers the commands.
-- No stream may stand twice in a call. `s_previous` is the hash that the caller believes the stream's last event to have.
-- Returns one row for each command that was not stored: `duplicate` (its idx 0 is there already), `conflict` (a stream
-- is not at its expected number; `actual` is where it is) or `broken` (it is, but with another hash).
--
-- Order: the parts' rows are locked first, ascending, so appends never wait for each other in a circle. READ COMMITTED
-- gives every statement that follows a snapshot of its own, which holds all that was committed before the locks were
-- had; so what is checked and written here is checked against the last state of these parts, and stays true to commit.
--
-- Nearly always every command is good, so the group is written at once and the constraints judge it, which is faster than
-- asking first. If they object, the inner block is rolled back, and its locks with it; they are taken again, verdicts
-- are worked out, and the rest is written in the second round, which cannot fail for the same reason. The locks of the
-- first round are taken inside the inner block because a row that a transaction locks and its subtransaction updates
-- needs a multixact.
create function store.append(
  s_item int[], s_part smallint[], s_stream text[], s_expected bigint[], s_count int[], s_previous bytea[], s_hash bytea[],
  e_item int[], e_part smallint[], e_stream text[], e_seq bigint[], e_command uuid[], e_idx smallint[], e_type text[],
  e_version smallint[], e_body bytea[], e_meta bytea[], e_hash bytea[]
)
returns table (item int, verdict text, stream_id text, actual bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
-- The tables' statistics are of no use here, and on a young database they are wrong: a plan that was made for empty
-- tables reads whole indexes until the first ANALYZE (40 ms a call instead of 2). Every access below is by a full key,
-- so: index scans, in nested loops over the arrays, planned once.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  bad int[] := '{}';
  streams bigint := cardinality(s_item);
  events bigint := cardinality(e_item);
  updated bigint;
  inserted bigint;
  judged record;
begin
  for round in 1..2 loop
    begin
      perform from store.part_head h where h.part = any (s_part) order by h.part for update;

      update store.stream_head h set last_seq = s.expected + s.n, last_hash = s.hash
        from unnest(s_item, s_part, s_stream, s_expected, s_count, s_previous, s_hash)
          as s (item, part, stream_id, expected, n, previous, hash)
        where h.part = s.part and h.stream_id = s.stream_id and h.last_seq = s.expected and h.last_hash = s.previous
          and s.item <> all (bad);
      get diagnostics updated = row_count;
      if updated < streams then
        insert into store.stream_head (part, stream_id, last_seq, last_hash)
          select s.part, s.stream_id, s.n, s.hash
            from unnest(s_item, s_part, s_stream, s_expected, s_count, s_hash) as s (item, part, stream_id, expected, n, hash)
            where s.expected = 0 and s.item <> all (bad);
        get diagnostics inserted = row_count;
        if updated + inserted < streams then
          raise sqlstate 'KH001' using message = 'a stream is not at the expected event, or stands twice in a call';
        end if;
      end if;

      insert into store.event (part, pos, stream_id, seq, command_id, idx, type, version, body, meta, hash)
        select e.part, h.last_pos + row_number() over (partition by e.part order by e.nr),
            e.stream_id, e.seq, e.command_id, e.idx, e.type, e.version, e.body, e.meta, e.hash
          from unnest(e_item, e_part, e_stream, e_seq, e_command, e_idx, e_type, e_version, e_body, e_meta, e_hash)
            with ordinality as e (item, part, stream_id, seq, command_id, idx, type, version, body, meta, hash, nr)
          join store.part_head h on h.part = e.part
          where e.item <> all (bad);
      get diagnostics inserted = row_count;
      if inserted <> events then
        raise sqlstate 'KH002' using message = 'an event names a part that is not there';
      end if;

      update store.part_head h set last_pos = h.last_pos + m.n
        from (
          select s.part, sum(s.n) as n from unnest(s_item, s_part, s_count) as s (item, part, n)
            where s.item <> all (bad) group by s.part
        ) as m
        where h.part = m.part;
      return;
    exception when unique_violation or sqlstate 'KH001' then
      if round = 2 then
        raise;
      end if;
    end;

    perform from store.part_head h where h.part = any (s_part) order by h.part for update;
    for judged in
      select distinct on (d.item) d.* from (
        select e.item, 'duplicate' as verdict, e.stream_id, x.seq as actual, 1 as rank
          from unnest(e_item, e_part, e_stream, e_command, e_idx) as e (item, part, stream_id, command_id, idx)
          join store.event x on x.part = e.part and x.command_id = e.command_id and x.idx = e.idx
          where e.idx = 0
        union all
        select s.item, case when h.last_seq = s.expected then 'broken' else 'conflict' end, s.stream_id,
            coalesce(h.last_seq, 0), 2
          from unnest(s_item, s_part, s_stream, s_expected, s_previous) as s (item, part, stream_id, expected, previous)
          left join store.stream_head h on h.part = s.part and h.stream_id = s.stream_id
          where coalesce(h.last_seq, 0) <> s.expected or h.last_hash <> s.previous
      ) as d
      order by d.item, d.rank
    loop
      item := judged.item;
      verdict := judged.verdict;
      stream_id := judged.stream_id;
      actual := judged.actual;
      return next;
      bad := bad || judged.item;
    end loop;
    streams := (select count(*) from unnest(s_item) as s (item) where s.item <> all (bad));
    events := (select count(*) from unnest(e_item) as e (item) where e.item <> all (bad));
  end loop;
end
$$;
