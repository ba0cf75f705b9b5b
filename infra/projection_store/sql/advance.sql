-- Meets a row for each part that is where the work begins; the caller counts them.
update projection.checkpoint c
set pos = m.after
from unnest($2::smallint[], $3::bigint[], $4::bigint[]) m (part, before, after)
where c.schema_name = $1 and c.part = m.part and c.pos = m.before
