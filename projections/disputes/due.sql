select dispute_id::text
from {schema}.dispute
where due_ms <= %(now_ms)s
order by due_ms
limit %(limit)s
