select table_id::text, seat, since_ms, game, currency, stake
from {schema}.seated
where player = %(player)s and table_id > coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000')
order by table_id
limit %(limit)s
