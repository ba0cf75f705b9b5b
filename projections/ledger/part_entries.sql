select part, pos, n, at_ms, stream, seq, coalesce(hand_id::text, '') as hand_id, clause, currency, debit, credit, amount
from {schema}.entry
where part = %(part)s and pos <= %(upto)s
order by pos, n
