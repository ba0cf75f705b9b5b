select
    dispute_id::text, hand_id::text, table_id::text, currency, opener, role, opened_ms, changed_ms, phase, closed, outcome,
    due_ms, overdue, proposals, paid, corrected, erased
from {schema}.dispute
where (closed, overdue = 0, opened_ms, dispute_id) > (%(closed)s, %(in_time)s, %(opened_ms)s, %(dispute_id)s::uuid)
    and (%(opener)s::text is null or opener = %(opener)s)
    and (%(hand_id)s::uuid is null or hand_id = %(hand_id)s::uuid)
    and (%(phase)s::text is null or phase = %(phase)s)
order by closed, overdue = 0, opened_ms, dispute_id
limit %(limit)s
