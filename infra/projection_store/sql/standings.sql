-- One row a version. behind_since is the recorded time of the oldest event that it has not passed: one look-up by key a
-- part that is behind, so the log's size does not matter. An event at a hole is not there; its part then tells nothing.
select
    v.name,
    v.version,
    v.serving,
    coalesce(sum(c.pos), 0)::bigint as position,
    coalesce(sum(h.last_pos), 0)::bigint as head,
    min(convert_from(e.meta, 'UTF8')::json ->> 'at') as behind_since
from projection.version v
left join projection.checkpoint c on c.name = v.name and c.version = v.version
left join store.part_head h on h.part = c.part
left join store.event e on e.part = c.part and e.pos = c.pos + 1
group by v.name, v.version, v.serving
order by v.name, v.version
