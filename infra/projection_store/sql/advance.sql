-- Meets a row for each part that is where the work begins; the caller counts them.
update projection.checkpoint c
set pos = m.after
from unnest($3::smallint[], $4::bigint[], $5::bigint[]) m (part, before, after)
where c.name = $1 and c.version = $2 and c.part = m.part and c.pos = m.before
