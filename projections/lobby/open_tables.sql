select table_id::text, seq, opened_ms, changed_ms, settings, seats, carried_bank, hand_id::text, hand_no, halted, closing, closed
from {schema}.lobby_table
where not closed
    and table_id > coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000')
    and (%(game)s::text is null or game = %(game)s)
    and (%(currency)s::text is null or currency = %(currency)s)
    and (has_room or not %(with_room)s)
order by table_id
limit %(limit)s
