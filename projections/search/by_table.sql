select at.hand_id::text as hand_id, at.ended_ms
from {schema}.hand at
where at.table_id = %(table_id)s::uuid
    and at.ended_ms >= %(from_ms)s::bigint and at.ended_ms < %(to_ms)s::bigint
    and (at.ended_ms, at.hand_id) < (%(before_ms)s::bigint, %(before_id)s::uuid)
    and at.bank between %(min_bank)s::bigint and %(max_bank)s::bigint
    and (%(flag)s::text is null or exists (
        select from {schema}.flag f
        where f.flag = %(flag)s::text and f.ended_ms = at.ended_ms and f.hand_id = at.hand_id
    ))
order by at.ended_ms desc, at.hand_id desc
limit %(limit)s::bigint
