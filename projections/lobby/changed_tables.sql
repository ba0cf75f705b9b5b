-- What changed after a vector: one look into the index a part.
select
    t.part, t.pos,
    t.table_id::text, t.seq, t.opened_ms, t.changed_ms, t.settings, t.seats, t.carried_bank, t.hand_id::text, t.hand_no,
    t.halted, t.closing, t.closed
from unnest(%(parts)s::smallint[], %(positions)s::bigint[]) v (part, pos)
join {schema}.lobby_table t on t.part = v.part and t.pos > v.pos
order by t.part, t.pos
