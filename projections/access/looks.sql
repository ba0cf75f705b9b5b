select seq, at_ms, person, hand_id::text, table_id::text, what, reason
from {schema}.look
where seq < %(before)s
    and at_ms >= %(from_ms)s and at_ms < %(to_ms)s
    and (%(hand_id)s::uuid is null or hand_id = %(hand_id)s::uuid)
    and (%(person)s::text is null or person = %(person)s)
order by seq desc
limit %(limit)s
