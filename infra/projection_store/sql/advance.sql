-- Meets a row for each part that is where the work begins; the caller counts them.
update projection.checkpoint c
set pos = m.after
from unnest(%(parts)s::smallint[], %(before)s::bigint[], %(after)s::bigint[]) m (part, before, after)
where c.name = %(name)s and c.version = %(version)s and c.part = m.part and c.pos = m.before
