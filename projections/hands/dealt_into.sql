select hand_id::text
from {schema}.hand_player
where player = %(person)s and hand_id = any(%(hands)s::uuid[])
