-- One row a generation. behind_since is the recorded time of the oldest event that it has not passed: one look-up by key
-- a part that is behind, so the log's size does not matter. An event at a hole is not there; its part then tells nothing.
select
    g.name,
    g.version,
    g.generation,
    g.schema_name as schema,
    g.state,
    g.serving,
    g.refused,
    coalesce(l.until > clock_timestamp(), false) as kept,
    case when l.until > clock_timestamp() then l.rate else 0 end as rate,
    coalesce(c.position, 0)::bigint as position,
    coalesce(c.head, 0)::bigint as head,
    c.behind_since
from projection.generation g
left join lateral (
    select
        sum(c.pos) as position,
        sum(h.last_pos) as head,
        min(convert_from(e.meta, 'UTF8')::json ->> 'at') as behind_since
    from projection.checkpoint c
    join store.part_head h on h.part = c.part
    left join store.event e on c.pos < h.last_pos and e.part = c.part and e.pos = c.pos + 1
    where c.schema_name = g.schema_name
) c on true
left join lease.held l on l.name = g.schema_name
order by g.name, g.version, g.generation
