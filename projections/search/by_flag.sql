select at.hand_id::text as hand_id, at.ended_ms
from {schema}.flag at
join {schema}.hand h on h.hand_id = at.hand_id
where at.flag = %(flag)s
    and at.ended_ms >= %(from_ms)s::bigint and at.ended_ms < %(to_ms)s::bigint
    and (at.ended_ms, at.hand_id) < (%(before_ms)s::bigint, %(before_id)s::uuid)
    and h.bank between %(min_bank)s::bigint and %(max_bank)s::bigint
    and (%(table_id)s::uuid is null or h.table_id = %(table_id)s::uuid)
order by at.ended_ms desc, at.hand_id desc
limit %(limit)s::bigint
