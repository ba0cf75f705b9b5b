select table_id::text, seq, opened_ms, changed_ms, settings, seats, carried_bank, hand_id::text, hand_no, halted, closing, closed
from {schema}.lobby_table
where table_id = %(table_id)s
