select distinct other.player
from {schema}.hand_player mine
join {schema}.hand_player other on other.hand_id = mine.hand_id
where mine.player = %(person)s and mine.started_ms >= %(since_ms)s and mine.started_ms <= %(until_ms)s
    and other.player <> %(person)s and other.player = any(%(players)s)
order by other.player
