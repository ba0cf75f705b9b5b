select part, pos, n, at_ms, stream, seq, hand_id::text as hand_id, clause, currency, debit, credit, amount
from {schema}.entry
where hand_id = %(hand_id)s::uuid
order by part, pos, n
