select count(*) as open, count(hand_id) as playing, count(halted) as halted
from {schema}.lobby_table
where not closed
